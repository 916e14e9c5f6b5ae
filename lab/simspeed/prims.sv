// SPDX-License-Identifier: Apache-2.0 OR MIT
// simple_system's technology cells, for simspeed: each name leads to the package's own generic
// implementation, as Ibex's build tool would have it (prim_*, gen_generic, u_impl_generic).
module prim_and2 #(parameter int Width = 1) (
  input  logic [Width-1:0] in0_i, in1_i,
  output logic [Width-1:0] out_o
);
  prim_generic_and2 #(.Width(Width)) u_impl_generic (.*);
endmodule

module prim_buf #(parameter int Width = 1) (
  input  logic [Width-1:0] in_i,
  output logic [Width-1:0] out_o
);
  prim_generic_buf #(.Width(Width)) u_impl_generic (.*);
endmodule

module prim_flop #(parameter int Width = 1, parameter logic [Width-1:0] ResetValue = 0) (
  input  logic             clk_i, rst_ni,
  input  logic [Width-1:0] d_i,
  output logic [Width-1:0] q_o
);
  prim_generic_flop #(.Width(Width), .ResetValue(ResetValue)) u_impl_generic (.*);
endmodule

module prim_clock_gating (
  input  logic clk_i, en_i, test_en_i,
  output logic clk_o
);
  prim_generic_clock_gating u_impl_generic (.*);
endmodule

module prim_clock_mux2 #(parameter bit NoFpgaBufG = 1'b0) (
  input  logic clk0_i, clk1_i, sel_i,
  output logic clk_o
);
  prim_generic_clock_mux2 u_impl_generic (.*);
endmodule

module prim_ram_1p import prim_ram_1p_pkg::*; #(
  parameter int Width = 32, Depth = 128, DataBitsPerMask = 1,
  parameter MemInitFile = "",
  localparam int Aw = $clog2(Depth)
) (
  input  logic             clk_i, req_i, write_i,
  input  logic [Aw-1:0]    addr_i,
  input  logic [Width-1:0] wdata_i, wmask_i,
  output logic [Width-1:0] rdata_o,
  input  ram_1p_cfg_t      cfg_i
);
  prim_generic_ram_1p #(
    .Width(Width), .Depth(Depth), .DataBitsPerMask(DataBitsPerMask), .MemInitFile(MemInitFile)
  ) u_impl_generic (.*);
endmodule

module prim_ram_2p import prim_ram_2p_pkg::*; #(
  parameter int Width = 32, Depth = 128, DataBitsPerMask = 1,
  parameter MemInitFile = "",
  localparam int Aw = $clog2(Depth)
) (
  input  logic             clk_a_i, clk_b_i,
  input  logic             a_req_i, a_write_i, b_req_i, b_write_i,
  input  logic [Aw-1:0]    a_addr_i, b_addr_i,
  input  logic [Width-1:0] a_wdata_i, a_wmask_i, b_wdata_i, b_wmask_i,
  output logic [Width-1:0] a_rdata_o, b_rdata_o,
  input  ram_2p_cfg_t      cfg_i
);
  if (1) begin : gen_generic
    prim_generic_ram_2p #(
      .Width(Width), .Depth(Depth), .DataBitsPerMask(DataBitsPerMask), .MemInitFile(MemInitFile)
    ) u_impl_generic (.*);
  end
endmodule

// SPDX-License-Identifier: Apache-2.0 OR MIT
// Technology cell: a single-port RAM whose read data arrive one cycle after the request.
// Ibex writes whole words only, so the write mask is ignored.
module prim_ram_1p #(
  parameter  int Width           = 32,
  parameter  int Depth           = 128,
  parameter  int DataBitsPerMask = 1,
  parameter      MemInitFile     = "",
  localparam int Aw              = $clog2(Depth)
) (
  input  logic             clk_i,
  input  logic             req_i,
  input  logic             write_i,
  input  logic [Aw-1:0]    addr_i,
  input  logic [Width-1:0] wdata_i,
  input  logic [Width-1:0] wmask_i,
  output logic [Width-1:0] rdata_o,
  input  logic [15:0]      cfg_i = '0  // for test; the core of 2021 does not have it
);
  logic [Width-1:0] mem [Depth];

  always_ff @(posedge clk_i) begin
    if (req_i && write_i) mem[addr_i] <= wdata_i;
    if (req_i && !write_i) rdata_o <= mem[addr_i];
  end

  logic unused;
  assign unused = ^{wmask_i, cfg_i};
endmodule

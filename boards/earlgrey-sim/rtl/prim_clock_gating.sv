// SPDX-License-Identifier: Apache-2.0 OR MIT
// Technology cell: the clock gate, as a wire. The simulator's main loop does the gating: it gives
// the core no clock edge while core_sleep_o is high (see earlgrey_sim_top.sv). The same cycles are
// skipped, without a derived clock in the model.
module prim_clock_gating #(
  parameter bit NoFpgaGate    = 1'b0,
  parameter bit FpgaBufGlobal = 1'b1
) (
  input  logic clk_i,
  input  logic en_i,
  input  logic test_en_i,
  output logic clk_o
);
  logic unused;
  assign unused = en_i ^ test_en_i;
  assign clk_o = clk_i;
endmodule

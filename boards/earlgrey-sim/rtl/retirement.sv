// SPDX-License-Identifier: Apache-2.0 OR MIT
// Reports to the C++ model (model/retirement.cc): in every cycle, whether an instruction leaves the
// decode stage, or why not; and every retired instruction. Only in builds with VARIANT=retire,
// where ibex_*/bind_retirement.sv binds it to the core. It only observes, so it cannot change a count.
//
// It uses the core's clock: while the core sleeps, it reports nothing and mcycle stops.
module retirement (
  input logic        clk_i,
  input logic        rst_ni,

  // The decode stage in this cycle.
  input logic        leaves_i,          // its instruction is done, or takes its exception
  input logic        instr_valid_i,     // it has an instruction
  input logic        stall_before_i,    // it waits for the load or store before it
  input logic        stall_memory_i,    // it waits for the bus to accept its own load or store
  input logic        stall_multdiv_i,
  input logic        stall_branch_i,
  input logic [63:0] mcycle_i,          // what `csrr mcycle` would read in this cycle

  // The retired instruction; instructions retire in the order of leaving the decode stage.
  input logic        valid_i,
  input logic        trap_i,
  input logic        intr_i,
  input logic [1:0]  mode_i,
  input logic [31:0] pc_i,
  input logic [31:0] insn_i,
  input logic [4:0]  rd_addr_i,
  input logic [31:0] rd_wdata_i,
  input logic [31:0] mem_addr_i,
  input logic [3:0]  mem_rmask_i,
  input logic [3:0]  mem_wmask_i,
  input logic [31:0] mem_wdata_i
);

  import "DPI-C" function void earlgrey_core_cycle(input byte unsigned what, input longint unsigned mcycle);
  import "DPI-C" function void earlgrey_core_retired(
    input bit trap, input bit intr, input byte unsigned mode, input int unsigned pc,
    input int unsigned insn, input byte unsigned rd, input int unsigned rd_value,
    input int unsigned mem_addr, input byte unsigned mem_read, input byte unsigned mem_write,
    input int unsigned mem_value
  );

  // Must match enum Spent in model/retirement.h.
  logic [2:0] what;
  always_comb begin
    if (leaves_i)             what = 3'd0;
    else if (!instr_valid_i)  what = 3'd1;
    else if (stall_before_i)  what = 3'd2;
    else if (stall_memory_i)  what = 3'd3;
    else if (stall_multdiv_i) what = 3'd4;
    else if (stall_branch_i)  what = 3'd5;
    else                      what = 3'd6;
  end

  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      if (valid_i)
        earlgrey_core_retired(trap_i, intr_i, {6'b0, mode_i}, pc_i, insn_i, {3'b0, rd_addr_i},
                              rd_wdata_i, mem_addr_i, {4'b0, mem_rmask_i}, {4'b0, mem_wmask_i},
                              mem_wdata_i);
      earlgrey_core_cycle({5'b0, what}, mcycle_i);
    end
  end

endmodule

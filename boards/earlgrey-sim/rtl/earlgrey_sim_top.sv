// SPDX-License-Identifier: Apache-2.0 OR MIT
// The Verilated top: only the core. The bus, memories and devices are in the C++ model (../model).
// sim_core is the machine's Ibex (ibex_2021/ or ibex_2025/).
//
// Every input from the model goes through a register here. So no input of the core changes between
// clock edges, and one evaluation at the rising edge settles a whole cycle: the model writes the
// core's inputs for the next cycle, raises the clock, and reads the core's outputs. With DIRECT_PORTS
// the ports have no registers, and the model evaluates a cycle again with its answers and grants.
//
// Two clocks rise together: clk_i for the registers of this level, and clk_core_i for the core. The
// main loop holds clk_core_i while core_sleep_o is high, because Ibex gates its clock during sleep,
// so that mcycle stops.
module earlgrey_sim_top (
  input  logic        clk_i,
  input  logic        clk_core_i,
  input  logic        rst_ni,
  input  logic [31:0] boot_addr_i,

  // Instruction port. gnt_i: a request would be accepted in the next cycle. The core sees it with or
  // without a request, as from tlul_adapter_host.
  output logic        instr_req_o,
  output logic [31:0] instr_addr_o,
  input  logic        instr_gnt_i,
  input  logic        instr_rvalid_i,
  input  logic [31:0] instr_rdata_i,
  input  logic        instr_err_i,

  // Data port.
  output logic        data_req_o,
  output logic        data_we_o,
  output logic [3:0]  data_be_o,
  output logic [31:0] data_addr_o,
  output logic [31:0] data_wdata_o,
  input  logic        data_gnt_i,
  input  logic        data_rvalid_i,
  input  logic [31:0] data_rdata_i,
  input  logic        data_err_i,

  input  logic        irq_timer_i,
  input  logic        irq_external_i,

  // i-cache scrambling key: requested by the core, provided by the model after a delay.
  output logic        scramble_req_o,
  input  logic        scramble_key_valid_i,

  output logic        core_sleep_o,
  output logic        double_fault_o,

  // The state of the core, for marks and for error messages.
  output logic [31:0] pc_o,
  output logic        refused_o,  // the fetch at pc_o failed
  output logic [31:0] exception_pc_o,
  output logic [31:0] exception_addr_o,
  output logic [31:0] last_data_addr_o,
  output logic [31:0] minstret_o,
  output logic [31:0] trap_vector_o
);

  logic        instr_gnt_q, instr_rvalid_q, instr_err_q;
  logic [31:0] instr_rdata_q;
  logic        data_gnt_q, data_rvalid_q, data_err_q;
  logic [31:0] data_rdata_q;
  logic        irq_timer_q, irq_external_q, scramble_key_valid_q;
  logic [31:0] boot_addr_q;

`ifdef DIRECT_PORTS
  always_comb begin
    instr_gnt_q          = instr_gnt_i;
    instr_rvalid_q       = instr_rvalid_i;
    instr_err_q          = instr_err_i;
    instr_rdata_q        = instr_rdata_i;
    data_gnt_q           = data_gnt_i;
    data_rvalid_q        = data_rvalid_i;
    data_err_q           = data_err_i;
    data_rdata_q         = data_rdata_i;
  end
`else
  always_ff @(posedge clk_i) begin
    instr_gnt_q          <= instr_gnt_i;
    instr_rvalid_q       <= instr_rvalid_i;
    instr_err_q          <= instr_err_i;
    instr_rdata_q        <= instr_rdata_i;
    data_gnt_q           <= data_gnt_i;
    data_rvalid_q        <= data_rvalid_i;
    data_err_q           <= data_err_i;
    data_rdata_q         <= data_rdata_i;
  end
`endif

  always_ff @(posedge clk_i) begin
    irq_timer_q          <= irq_timer_i;
    irq_external_q       <= irq_external_i;
    scramble_key_valid_q <= scramble_key_valid_i;
    boot_addr_q          <= boot_addr_i;
  end

  sim_core u_core (
    .clk_i               (clk_core_i),
    .rst_ni,
    .boot_addr_i         (boot_addr_q),
    .instr_req_o,
    .instr_addr_o,
    .instr_gnt_i         (instr_gnt_q),
    .instr_rvalid_i      (instr_rvalid_q),
    .instr_rdata_i       (instr_rdata_q),
    .instr_err_i         (instr_err_q),
    .data_req_o,
    .data_we_o,
    .data_be_o,
    .data_addr_o,
    .data_wdata_o,
    .data_gnt_i          (data_gnt_q),
    .data_rvalid_i       (data_rvalid_q),
    .data_rdata_i        (data_rdata_q),
    .data_err_i          (data_err_q),
    .irq_timer_i         (irq_timer_q),
    .irq_external_i      (irq_external_q),
    .scramble_req_o,
    .scramble_key_valid_i(scramble_key_valid_q),
    .core_sleep_o,
    .double_fault_o,
    .pc_o,
    .refused_o,
    .exception_pc_o,
    .exception_addr_o,
    .last_data_addr_o,
    .minstret_o,
    .trap_vector_o
  );

endmodule

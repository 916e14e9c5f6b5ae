// SPDX-License-Identifier: Apache-2.0 OR MIT
// Ibex of 2021 (top: ibex_core) in OpenTitan's configuration of 2020: no bit manipulation, an
// i-cache without scrambling, no ePMP.
module sim_core
  import ibex_pkg::*;
(
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic [31:0] boot_addr_i,

  output logic        instr_req_o,
  output logic [31:0] instr_addr_o,
  input  logic        instr_gnt_i,
  input  logic        instr_rvalid_i,
  input  logic [31:0] instr_rdata_i,
  input  logic        instr_err_i,

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

  output logic        scramble_req_o,
  input  logic        scramble_key_valid_i,

  output logic        core_sleep_o,
  output logic        double_fault_o,

  output logic [31:0] pc_o,
  output logic        refused_o,
  output logic [31:0] exception_pc_o,
  output logic [31:0] exception_addr_o,
  output logic [31:0] last_data_addr_o,
  output logic [31:0] minstret_o,
  output logic [31:0] trap_vector_o
);

  ibex_core #(
    .PMPEnable       (1'b1),
    .PMPGranularity  (0),
    .PMPNumRegions   (16),
    .MHPMCounterNum  (10),
    .MHPMCounterWidth(32),
    .RV32M           (RV32MSingleCycle),
    .RV32B           (RV32BNone),
    .RegFile         (RegFileFPGA),
    .BranchTargetALU (1'b1),
    .WritebackStage  (1'b1),
    .ICache          (1'b1),
    .ICacheECC       (1'b1),
    .DbgTriggerEn    (1'b1),
    .SecureIbex      (1'b0)
  ) u_ibex_core (
    .clk_i,
    .rst_ni,
    .test_en_i     (1'b0),
    .hart_id_i     ('0),
    .boot_addr_i,
    .instr_req_o,
    .instr_gnt_i,
    .instr_rvalid_i,
    .instr_addr_o,
    .instr_rdata_i,
    .instr_err_i,
    .data_req_o,
    .data_gnt_i,
    .data_rvalid_i,
    .data_we_o,
    .data_be_o,
    .data_addr_o,
    .data_wdata_o,
    .data_rdata_i,
    .data_err_i,
    .irq_software_i(1'b0),
    .irq_timer_i,
    .irq_external_i,
    .irq_fast_i    ('0),
    .irq_nm_i      (1'b0),
    .debug_req_i   (1'b0),
    .fetch_enable_i(1'b1),
    .alert_minor_o (),
    .alert_major_o (),
    .core_sleep_o
  );

  // Unlike later ones, this core does not report a double fault: an exception between an exception
  // and the return from it.
  logic exception, in_exception_q;
  assign exception = u_ibex_core.csr_save_cause & ~u_ibex_core.exc_cause[5];
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni)                              in_exception_q <= 1'b0;
    else if (exception)                       in_exception_q <= 1'b1;
    else if (u_ibex_core.csr_restore_mret_id) in_exception_q <= 1'b0;
  end
  assign double_fault_o = exception & in_exception_q;

  always_ff @(posedge clk_i) begin
    if (data_req_o && data_gnt_i) last_data_addr_o <= data_addr_o;
  end

  // pc_id also has instructions that a taken branch discards, so keep the last valid one.
  always_ff @(posedge clk_i) begin
    if (u_ibex_core.instr_valid_id) begin
      pc_o      <= u_ibex_core.pc_id;
      refused_o <= u_ibex_core.instr_fetch_err;
    end
  end

  assign exception_pc_o   = u_ibex_core.cs_registers_i.mepc_q;
  assign exception_addr_o = u_ibex_core.cs_registers_i.mtval_q;
  assign minstret_o       = u_ibex_core.cs_registers_i.mhpmcounter[2][31:0];
  assign trap_vector_o    = {u_ibex_core.cs_registers_i.mtvec_q[31:8], 8'h00};

  assign scramble_req_o = 1'b0;
  logic unused;
  assign unused = scramble_key_valid_i;

endmodule

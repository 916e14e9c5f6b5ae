// SPDX-License-Identifier: Apache-2.0 OR MIT
// Ibex of 2025 (top: ibex_top), configured by core_config: the machine's (configs/), or one that
// ../../cores.py generates. A user's core (docs/boards-and-simulator.md) replaces this module and has
// the same name and ports:
//
// - instr_* and data_* follow Ibex's memory interface: a request stays high until it is granted;
//   answers arrive in order. Registers separate the core from the bus, so a grant applies to the
//   cycle in which the core sees it. It may be high without a request.
// - State changes only at the rising edge of clk_i. While core_sleep_o is high there is no edge; an
//   interrupt ends that.
// - The core starts at boot_addr_i + 0x80 in machine mode. The boot ROM writes CSR 0x7c0, mseccfg and
//   the last PMP entry.
// - pc_o is the instruction in decode, for marks. minstret_o, trap_vector_o and exception_* are used in
//   error messages. scramble_req_o is 0 without a cache that asks for a key.
module sim_core
  import ibex_pkg::*;
  import core_config::*;
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

  // Only a secure core (two cores in lockstep, checked buses) uses these.
  logic [6:0] instr_intg, data_intg;
  if (SecureIbex) begin : gen_intg
    logic [31:0] unused_instr_data, unused_data_data;
    prim_secded_inv_39_32_enc u_instr_intg (
      .data_i(instr_rdata_i),
      .data_o({instr_intg, unused_instr_data})
    );
    prim_secded_inv_39_32_enc u_data_intg (
      .data_i(data_rdata_i),
      .data_o({data_intg, unused_data_data})
    );
  end else begin : gen_no_intg
    assign instr_intg = '0;
    assign data_intg  = '0;
  end

  crash_dump_t crash_dump;

  ibex_top #(
    .PMPEnable       (PMPEnable),
    .PMPGranularity  (PMPGranularity),
    .PMPNumRegions   (PMPNumRegions),
    .MHPMCounterNum  (MHPMCounterNum),
    .MHPMCounterWidth(MHPMCounterWidth),
    .RV32M           (RV32M),
    .RV32B           (RV32B),
    .RegFile         (RegFile),
    .BranchTargetALU (BranchTargetALU),
    .WritebackStage  (WritebackStage),
    .ICache          (ICache),
    .ICacheECC       (ICacheECC),
    .ICacheScramble  (ICacheScramble),
    .BranchPredictor (BranchPredictor),
    .DbgTriggerEn    (DbgTriggerEn),
    .DbgHwBreakNum   (4),
    .SecureIbex      (SecureIbex)
  ) u_ibex (
    .clk_i                 (clk_i),
    .rst_ni,
    .test_en_i             (1'b0),
    .ram_cfg_i             ('0),
    .hart_id_i             ('0),
    .boot_addr_i,
    .instr_req_o,
    .instr_gnt_i           (instr_gnt_i),
    .instr_rvalid_i        (instr_rvalid_i),
    .instr_addr_o,
    .instr_rdata_i         (instr_rdata_i),
    .instr_rdata_intg_i    (instr_intg),
    .instr_err_i           (instr_err_i),
    .data_req_o,
    .data_gnt_i            (data_gnt_i),
    .data_rvalid_i         (data_rvalid_i),
    .data_we_o,
    .data_be_o,
    .data_addr_o,
    .data_wdata_o,
    .data_wdata_intg_o     (),
    .data_rdata_i          (data_rdata_i),
    .data_rdata_intg_i     (data_intg),
    .data_err_i            (data_err_i),
    .irq_software_i        (1'b0),
    .irq_timer_i           (irq_timer_i),
    .irq_external_i        (irq_external_i),
    .irq_fast_i            ('0),
    .irq_nm_i              (1'b0),
    .scramble_key_valid_i  (scramble_key_valid_i),
    .scramble_key_i        (RndCnstIbexKeyDefault),
    .scramble_nonce_i      (RndCnstIbexNonceDefault),
    .scramble_req_o,
    .debug_req_i           (1'b0),
    .crash_dump_o          (crash_dump),
    .double_fault_seen_o   (double_fault_o),
    .fetch_enable_i        (IbexMuBiOn),
    .alert_minor_o         (),
    .alert_major_internal_o(),
    .alert_major_bus_o     (),
    .core_sleep_o,
    .scan_rst_ni           (1'b1)
  );

  // pc_id also has instructions that a taken branch discards, so keep the last valid one.
  always_ff @(posedge clk_i) begin
    if (u_ibex.u_ibex_core.instr_valid_id) begin
      pc_o      <= u_ibex.u_ibex_core.pc_id;
      refused_o <= u_ibex.u_ibex_core.instr_fetch_err;
    end
  end

  assign exception_pc_o   = crash_dump.exception_pc;
  assign exception_addr_o = crash_dump.exception_addr;
  assign last_data_addr_o = crash_dump.last_data_addr;
  assign minstret_o       = u_ibex.u_ibex_core.cs_registers_i.mhpmcounter[2][31:0];
  assign trap_vector_o    = {u_ibex.u_ibex_core.cs_registers_i.mtvec_q[31:8], 8'h00};

endmodule

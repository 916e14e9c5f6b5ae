// SPDX-License-Identifier: Apache-2.0 OR MIT
// The simulator's core (boards/earlgrey-sim/rtl/earlgrey_sim_top.sv) with its state as outputs, for
// lockstep. It only observes: all names behind u_sim are signals of Ibex.
module lockstep_top
  import ibex_pkg::*;
  import core_config::*;
(
  input  logic        clk_i,
  input  logic        clk_core_i,
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
  output logic [31:0] trap_vector_o,

  // The state of this cycle.
  output logic [31:0] regs_o [32],  // without the result in the write-back stage
  output logic        wb_writes_o,  // that stage holds a result other than a load's
  output logic [4:0]  wb_rd_o,
  output logic [31:0] wb_result_o,
  output logic [31:0] mstatus_o,
  output logic [31:0] mie_o,
  output logic [31:0] mtvec_o,
  output logic [31:0] mscratch_o,
  output logic [31:0] mepc_o,
  output logic [31:0] mcause_o,
  output logic [31:0] mtval_o,
  output logic [31:0] mcountinhibit_o,
  output logic [31:0] cpuctrl_o,
  output logic [31:0] mseccfg_o,
  output logic [1:0]  privilege_o,
  output logic [7:0]  pmp_cfg_o  [PMPNumRegions],
  output logic [31:0] pmp_addr_o [PMPNumRegions],
  output logic [63:0] counters_o [13],  // mcycle, none, minstret, mhpmcounter3 to 12, all as stored

  // Events of this cycle, for statistics and for the history in front of a difference.
  output logic        leaves_o,      // an instruction leaves decode without an exception of its own
  output logic [31:0] decode_pc_o,
  output logic        decode_valid_o,
  output logic [31:0] insn_o,        // as fetched
  output logic        compressed_o,
  output logic        trap_o,
  output logic [31:0] cause_o,       // as mcause would show it
  output logic        mret_o,
  output logic        cache_hit_o,
  output logic        cache_miss_o,
  output logic        cache_fill_o,
  output logic        cache_error_o  // an ECC error, such as from two different ways
);

  earlgrey_sim_top u_sim (.*);

  `define CORE u_sim.u_core.u_ibex.u_ibex_core
  `define CSRS `CORE.cs_registers_i
  `define WB `CORE.wb_stage_i.g_writeback_stage
  `define CACHE `CORE.if_stage_i.gen_icache.icache_i

  if (RegFile == RegFileFPGA) begin : gen_regs_fpga
    assign regs_o = u_sim.u_core.u_ibex.gen_regfile_fpga.register_file_i.mem;
  end else begin : gen_regs_ff
    assign regs_o = u_sim.u_core.u_ibex.gen_regfile_ff.register_file_i.rf_reg;
  end

  if (WritebackStage) begin : gen_wb
    assign wb_writes_o = `WB.rf_we_wb_q & `WB.wb_valid_q;
    assign wb_rd_o     = `WB.rf_waddr_wb_q;
    assign wb_result_o = `WB.rf_wdata_wb_q;
  end else begin : gen_no_wb
    assign wb_writes_o = 1'b0;
    assign wb_rd_o     = '0;
    assign wb_result_o = '0;
  end

  assign mstatus_o = 32'(`CSRS.mstatus_q.mie) << 3 | 32'(`CSRS.mstatus_q.mpie) << 7 |
                     32'(`CSRS.mstatus_q.mpp) << 11 | 32'(`CSRS.mstatus_q.mprv) << 17 |
                     32'(`CSRS.mstatus_q.tw) << 21;
  assign mie_o = 32'(`CSRS.mie_q.irq_software) << 3 | 32'(`CSRS.mie_q.irq_timer) << 7 |
                 32'(`CSRS.mie_q.irq_external) << 11 | 32'(`CSRS.mie_q.irq_fast) << 16;
  assign mtvec_o         = `CSRS.mtvec_q;
  assign mscratch_o      = `CSRS.mscratch_q;
  assign mepc_o          = `CSRS.mepc_q;
  assign mtval_o         = `CSRS.mtval_q;
  assign mcountinhibit_o = `CSRS.mcountinhibit;
  assign cpuctrl_o       = {23'b0, `CSRS.cpuctrlsts_ic_scr_key_valid_q, `CSRS.cpuctrlsts_part_q};
  assign privilege_o     = `CSRS.priv_lvl_q;

  function automatic logic [31:0] cause_word(exc_cause_t cause);
    return {cause.irq_ext | cause.irq_int, {26{cause.irq_int}}, cause.lower_cause};
  endfunction
  assign mcause_o = cause_word(`CSRS.mcause_q);

  pmp_mseccfg_t mseccfg;
  assign mseccfg   = `CSRS.csr_pmp_mseccfg_o;
  assign mseccfg_o = {29'b0, mseccfg.rlb, mseccfg.mmwp, mseccfg.mml};
  for (genvar i = 0; i < PMPNumRegions; i++) begin : gen_pmp
    pmp_cfg_t cfg;
    assign cfg           = `CSRS.csr_pmp_cfg_o[i];
    assign pmp_cfg_o[i]  = {cfg.lock, 2'b00, cfg.mode[1:0], cfg.exec, cfg.write, cfg.read};
    assign pmp_addr_o[i] = `CSRS.csr_pmp_addr_o[i][33:2];
  end

  assign counters_o[0] = `CSRS.mhpmcounter[0];
  assign counters_o[1] = '0;
  assign counters_o[2] = `CSRS.minstret_raw;
  for (genvar i = 0; i < 10; i++) begin : gen_counters
    assign counters_o[i+3] = `CSRS.gen_cntrs[i].gen_imp.mhpmcounter_raw;
  end

  assign leaves_o       = `CORE.instr_id_done;
  assign decode_pc_o    = `CORE.pc_id;
  assign decode_valid_o = `CORE.instr_valid_id;
  assign insn_o         = `CORE.instr_is_compressed_id ? {16'b0, `CORE.instr_rdata_c_id}
                                                       : `CORE.instr_rdata_id;
  assign compressed_o   = `CORE.instr_is_compressed_id;
  assign trap_o         = `CORE.csr_save_cause;
  assign cause_o        = cause_word(`CORE.exc_cause);
  assign mret_o         = `CORE.csr_restore_mret_id;

  if (ICache) begin : gen_cache
    assign cache_hit_o   = `CACHE.lookup_valid_ic1 & `CACHE.tag_hit_ic1;
    assign cache_miss_o  = `CACHE.lookup_valid_ic1 & ~`CACHE.tag_hit_ic1;
    assign cache_fill_o  = `CACHE.fill_grant_ic0;
    assign cache_error_o = `CACHE.ecc_err_ic1;
  end else begin : gen_no_cache
    assign {cache_hit_o, cache_miss_o, cache_fill_o, cache_error_o} = '0;
  end

endmodule

// SPDX-License-Identifier: Apache-2.0 OR MIT
// Binds the retirement port to every ibex_core. The names on the right are internal signals of the
// core. Of the instructions that take an exception, this core marks only the illegal ones.
bind ibex_core retirement u_retirement (
  .clk_i          (clk),
  .rst_ni         (rst_ni),
  .leaves_i       (instr_id_done & ~dummy_instr_id),
  .instr_valid_i  (instr_valid_id),
  .stall_before_i (id_stage_i.gen_stall_mem.outstanding_memory_access | id_stage_i.stall_ld_hz),
  .stall_memory_i (id_stage_i.stall_mem),
  .stall_multdiv_i(id_stage_i.stall_multdiv),
  .stall_branch_i (id_stage_i.stall_branch | id_stage_i.stall_jump),
  .mcycle_i       (cs_registers_i.mhpmcounter[0]),
  .valid_i        (rvfi_valid),
  .trap_i         (rvfi_trap),
  .intr_i         (rvfi_intr),
  .mode_i         (rvfi_mode),
  .pc_i           (rvfi_pc_rdata),
  .insn_i         (rvfi_insn),
  .rd_addr_i      (rvfi_rd_addr),
  .rd_wdata_i     (rvfi_rd_wdata),
  .mem_addr_i     (rvfi_mem_addr),
  .mem_rmask_i    (rvfi_mem_rmask),
  .mem_wmask_i    (rvfi_mem_wmask),
  .mem_wdata_i    (rvfi_mem_wdata)
);

bind ibex_icache fills u_fills (
  .clk_i (clk_i),
  .rst_ni(rst_ni),
  .fill_i(fill_grant_ic0)
);

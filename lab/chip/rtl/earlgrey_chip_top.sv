// SPDX-License-Identifier: Apache-2.0 OR MIT
// The whole of OpenTitan's top_earlgrey on one clock. The signals of its analogue part are tied such
// that every supply and clock is good and no alert is raised; pads are open.
//
// Outputs show what the core does and what the UART sends. They are read from the hierarchy, so no
// file of the chip is changed for them.
module earlgrey_chip_top (
  input  logic clk_i,
  input  logic rst_ni,

  // A byte that UART 0 starts to send in this cycle of its own, slower clock.
  output logic        uart_sends_o,
  output logic [7:0]  uart_byte_o,

  // The core's data port: a store that is accepted in this cycle.
  output logic        stored_o,
  output logic [31:0] data_addr_o,
  output logic [31:0] data_wdata_o,

  output logic        irq_timer_o,
  output logic        irq_external_o,
  output logic        core_sleep_o,
  output logic        double_fault_o,

  // The position of the core: for marks, and for messages if a run fails.
  output logic [31:0] pc_o,
  output logic        refused_o, // the instruction could not be fetched
  output logic [31:0] exception_pc_o,
  output logic [31:0] exception_addr_o,
  output logic [31:0] last_data_addr_o,
  output logic [31:0] minstret_o,
  output logic [31:0] trap_vector_o
);

  pwrmgr_pkg::pwr_ast_rsp_t power;
  assign power = '1;
  ast_pkg::ast_status_t status;
  assign status.io_pok = '1;
  localparam ast_pkg::ast_dif_t Silent = '{p: 1'b0, n: 1'b1};
  ast_pkg::ast_alert_req_t alerts;
  assign alerts.alerts = {ast_pkg::NumAlerts{Silent}};
  lc_ctrl_pkg::lc_tx_t clock_bypass;
  wire [3:0] test_mode;
  wire       test_voltage;

  top_earlgrey #(
    .IbexPipeLine          (1), // as the FPGA boards were built
    .SramCtrlRetAonInstrExec(0),
    .SramCtrlMainInstrExec (1),
    .BootRomInitFile       (""), // ROM, OTP and flash are filled by ../model/system.h
    .OtpCtrlMemInitFile    ("")
  ) u_chip (
    .rst_ni,
    .clk_main_i(clk_i),
    .clk_io_i  (clk_i),
    .clk_usb_i (clk_i),
    .clk_aon_i (clk_i),

    .mio_in_i('0), .mio_out_o(), .mio_oe_o(), .mio_attr_o(),
    .dio_in_i('0), .dio_out_o(), .dio_oe_o(), .dio_attr_o(),

    .pwrmgr_ast_req_o(), .pwrmgr_ast_rsp_i(power),
    .sensor_ctrl_ast_alert_req_i(alerts), .sensor_ctrl_ast_alert_rsp_o(),
    .sensor_ctrl_ast_status_i(status),
    .lc_clk_byp_req_o(clock_bypass), .lc_clk_byp_ack_i(clock_bypass),
    .flash_bist_enable_i(lc_ctrl_pkg::Off),
    .flash_power_down_h_i(1'b0), .flash_power_ready_h_i(1'b1),
    .flash_test_mode_a_io(test_mode), .flash_test_voltage_h_io(test_voltage),
    .otp_ctrl_otp_ast_pwr_seq_o(), .otp_ctrl_otp_ast_pwr_seq_h_i('0),
    .ram_1p_cfg_i('0), .ram_2p_cfg_i('0), .rom_cfg_i('0),
    .clk_main_jitter_en_o(), .ast_lc_dft_en_o(), .clks_ast_o(), .rsts_ast_o(),
    .adc_req_o(), .adc_rsp_i('0),
    .ast_edn_req_i('0), .ast_edn_rsp_o(),
    .es_rng_req_o(), .es_rng_rsp_i('0), .es_rng_fips_o(),
    .ast_tl_req_o(), .ast_tl_rsp_i('0),
    .pinmux2ast_o(), .ast2pinmux_i('0),
    .usbdev_usb_ref_val_o(), .usbdev_usb_ref_pulse_o(),
    .dft_strap_test_o(),
    .scan_rst_ni(1'b1), .scan_en_i(1'b0), .scanmode_i(lc_ctrl_pkg::Off)
  );

  assign uart_sends_o = u_chip.u_uart0.uart_core.tx_fifo_rready;
  assign uart_byte_o  = u_chip.u_uart0.uart_core.tx_fifo_data;

  assign stored_o     = u_chip.u_rv_core_ibex.data_req & u_chip.u_rv_core_ibex.data_gnt &
                        u_chip.u_rv_core_ibex.data_we;
  assign data_addr_o  = u_chip.u_rv_core_ibex.data_addr;
  assign data_wdata_o = u_chip.u_rv_core_ibex.data_wdata;

  assign irq_timer_o    = u_chip.intr_rv_timer_timer_expired_0_0;
  assign irq_external_o = u_chip.irq_plic;
  assign core_sleep_o   = u_chip.u_rv_core_ibex.core_sleep_o;

  // The same as in boards/earlgrey-sim/rtl/ibex_2021/sim_core.sv, for the same core: a fault in a fault
  // handler, the last data address, and the last instruction in the decode stage.
  logic exception, in_exception_q;
  assign exception = u_chip.u_rv_core_ibex.u_core.csr_save_cause &
                     ~u_chip.u_rv_core_ibex.u_core.exc_cause[5];
  always_ff @(posedge clk_i) begin
    if (!u_chip.u_rv_core_ibex.rst_ni)                          in_exception_q <= 1'b0;
    else if (exception)                                         in_exception_q <= 1'b1;
    else if (u_chip.u_rv_core_ibex.u_core.csr_restore_mret_id)  in_exception_q <= 1'b0;
  end
  assign double_fault_o = exception & in_exception_q;

  always_ff @(posedge clk_i) begin
    if (u_chip.u_rv_core_ibex.data_req && u_chip.u_rv_core_ibex.data_gnt)
      last_data_addr_o <= data_addr_o;
    if (u_chip.u_rv_core_ibex.u_core.instr_valid_id) begin
      pc_o      <= u_chip.u_rv_core_ibex.u_core.pc_id;
      refused_o <= u_chip.u_rv_core_ibex.u_core.instr_fetch_err;
    end
  end

  assign exception_pc_o   = u_chip.u_rv_core_ibex.u_core.cs_registers_i.mepc_q;
  assign exception_addr_o = u_chip.u_rv_core_ibex.u_core.cs_registers_i.mtval_q;
  assign minstret_o       = u_chip.u_rv_core_ibex.u_core.cs_registers_i.mhpmcounter[2][31:0];
  assign trap_vector_o    = {u_chip.u_rv_core_ibex.u_core.cs_registers_i.mtvec_q[31:8], 8'h00};

endmodule

// SPDX-License-Identifier: Apache-2.0 OR MIT
// OpenTitan's configuration of the core in earlgrey_es, without lockstep. The register file is the
// FPGA's, which does not affect any count.
package core_config;
  localparam bit                 PMPEnable        = 1'b1;
  localparam int unsigned        PMPGranularity   = 0;
  localparam int unsigned        PMPNumRegions    = 16;
  localparam int unsigned        MHPMCounterNum   = 10;
  localparam int unsigned        MHPMCounterWidth = 32;
  localparam ibex_pkg::rv32m_e   RV32M            = ibex_pkg::RV32MSingleCycle;
  localparam ibex_pkg::rv32b_e   RV32B            = ibex_pkg::RV32BOTEarlGrey;
  localparam ibex_pkg::regfile_e RegFile          = ibex_pkg::RegFileFPGA;
  localparam bit                 BranchTargetALU  = 1'b1;
  localparam bit                 WritebackStage   = 1'b1;
  localparam bit                 ICache           = 1'b1;
  localparam bit                 ICacheECC        = 1'b1;
  localparam bit                 ICacheScramble   = 1'b1;
  localparam bit                 BranchPredictor  = 1'b0;
  localparam bit                 DbgTriggerEn     = 1'b1;
  localparam bit                 SecureIbex       = 1'b0;
endpackage

// SPDX-License-Identifier: Apache-2.0 OR MIT
// The core the configuration that Ibex calls maxperf-pmp-bmfull: all of bit manipulation, no i-cache.
package core_config;
  localparam ibex_pkg::rv32b_e Rv32b      = ibex_pkg::RV32BFull;
  localparam bit               ICache     = 1'b0;
  localparam bit               SecureIbex = 1'b0;
endpackage

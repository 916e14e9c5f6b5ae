// SPDX-License-Identifier: Apache-2.0 OR MIT
// The core as OpenTitan configures it in earlgrey_es, without lockstep.
package core_config;
  localparam ibex_pkg::rv32b_e Rv32b      = ibex_pkg::RV32BOTEarlGrey;
  localparam bit               ICache     = 1'b1;
  localparam bit               SecureIbex = 1'b0;
endpackage

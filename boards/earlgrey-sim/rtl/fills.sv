// SPDX-License-Identifier: Apache-2.0 OR MIT
// Reports to the C++ model (model/retirement.cc) each line that the instruction cache fills. Only
// in builds with VARIANT=retire, where ibex_*/bind_retirement.sv binds it to the cache. It only
// observes and drives nothing.
module fills (
  input logic clk_i,
  input logic rst_ni,
  input logic fill_i  // a line is written, not an invalidation
);

  import "DPI-C" function void earlgrey_cache_fill();

  always_ff @(posedge clk_i) begin
    if (rst_ni && fill_i) earlgrey_cache_fill();
  end

endmodule

// SPDX-License-Identifier: Apache-2.0 OR MIT
// Tells the C++ model (model/retirement.cc) each time that the instruction cache takes in a line that
// it did not have. Only in builds with VARIANT=retire, where ibex_*/bind_retirement.sv hangs it into
// the cache. It listens and drives nothing.
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

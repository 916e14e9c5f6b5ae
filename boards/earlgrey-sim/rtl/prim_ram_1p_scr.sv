// SPDX-License-Identifier: Apache-2.0 OR MIT
// The i-cache's scrambled RAM, without its cipher. It keeps the timing: it grants nothing without a
// valid key, and read data arrive one cycle after a grant. The cipher only changes the stored bits,
// and the cache only reads lines that it wrote with the same key. The RAM of the Ibex package, with
// the cipher, gives the same cycles on all reference programs (docs/boards-and-simulator.md).
module prim_ram_1p_scr
  import prim_ram_1p_pkg::*;
#(
  parameter  int Depth               = 16 * 1024,
  parameter  int Width               = 32,
  parameter  int DataBitsPerMask     = 8,
  parameter  bit EnableParity        = 1,
  parameter  int NumPrinceRoundsHalf = 3,
  parameter  int NumDiffRounds       = 0,
  parameter  int DiffWidth           = DataBitsPerMask,
  parameter  int NumAddrScrRounds    = 2,
  parameter  bit ReplicateKeyStream  = 1'b0,
  localparam int AddrWidth           = $clog2(Depth),
  localparam int NumParScr           = ReplicateKeyStream ? 1 : (Width + 63) / 64,
  localparam int NonceWidth          = 64 * NumParScr
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,
  input  logic                  key_valid_i,
  input  logic [127:0]          key_i,
  input  logic [NonceWidth-1:0] nonce_i,
  input  logic                  req_i,
  output logic                  gnt_o,
  input  logic                  write_i,
  input  logic [AddrWidth-1:0]  addr_i,
  input  logic [Width-1:0]      wdata_i,
  input  logic [Width-1:0]      wmask_i,
  input  logic                  intg_error_i,
  output logic [Width-1:0]      rdata_o,
  output logic                  rvalid_o,
  output logic [1:0]            rerror_o,
  output logic [31:0]           raddr_o,
  input  ram_1p_cfg_t           cfg_i,
  output logic                  wr_collision_o,
  output logic                  write_pending_o,
  output logic                  alert_o
);
  logic [Width-1:0] mem [Depth];

  assign gnt_o = req_i & key_valid_i;

  always_ff @(posedge clk_i) begin
    if (gnt_o && write_i) mem[addr_i] <= wdata_i;
    if (gnt_o && !write_i) rdata_o <= mem[addr_i];
  end

  // Ibex does not connect these.
  assign rvalid_o        = 1'b0;
  assign rerror_o        = '0;
  assign raddr_o         = '0;
  assign wr_collision_o  = 1'b0;
  assign write_pending_o = 1'b0;
  assign alert_o         = 1'b0;

  logic unused;
  assign unused = ^{rst_ni, key_i, nonce_i, wmask_i, intg_error_i, cfg_i};
endmodule

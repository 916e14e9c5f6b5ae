/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The matrix product of riscv-tests (mt-matmul, whole numbers) on its own data and known product.
 */
#include "program.h"

#include "mt-matmul/dataset.h"
#include <string.h>

void matmul(size_t core, size_t cores, size_t rows, const data_t a[], const data_t b[], data_t c[]);

static data_t product[ARRAY_SIZE];

static void prepare(const uint32_t *value) {
    (void)value;
    memset(product, 0xff, sizeof product);
}

static uint32_t work(void *arg) {
    (void)arg;
    for (uint32_t i = 0; i < TM_INNER_matrix_product; i++)
        matmul(0, 1, DIM_SIZE, input1_data, input2_data, product);
    return 0;
}

static bool is_right(const uint32_t *value) {
    (void)value;
    return !memcmp(product, verify_data, sizeof product);
}

TM_PROGRAM(matrix, matrix_product, 2048, prepare, work, is_right);

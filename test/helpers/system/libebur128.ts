import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import type { TestFolder } from '../media-factory.js'

const run = promisify(execFile)
const HEADERS = ['/usr/include/ebur128.h', '/usr/local/include/ebur128.h', '/opt/homebrew/include/ebur128.h']
const COMPILERS = ['/usr/bin/cc', '/usr/local/bin/cc', '/opt/homebrew/bin/cc']

/** Why the tests against libebur128 are skipped; null if it is there. */
export const NO_LIBEBUR128 =
  HEADERS.some(existsSync) && COMPILERS.some(existsSync) ? null : 'no cc with ebur128.h (libebur128-dev)'

/** Figures of libebur128, in LUFS and dBTP. */
export interface Judgement {
  readonly integrated: number
  readonly momentary: number
  readonly shortTerm: number
  readonly peak: number
}

/** Reads raw 32-bit floats to the end of a file. Arguments: file, channels, sample rate. */
const PROGRAM = `#include <ebur128.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
int main(int count, char **arg) {
  if (count != 4) return 1;
  unsigned channels = atoi(arg[2]), rate = atoi(arg[3]), step = rate / 10;
  ebur128_state *st = ebur128_init(channels, rate, EBUR128_MODE_I | EBUR128_MODE_S | EBUR128_MODE_TRUE_PEAK);
  float *block = malloc(sizeof(float) * channels * step);
  double momentary = -HUGE_VAL, shortTerm = -HUGE_VAL, global, peak = 0, value;
  size_t got, blocks = 0;
  FILE *file = fopen(arg[1], "rb");
  if (!st || !file) return 1;
  while ((got = fread(block, sizeof(float) * channels, step, file)) > 0) {
    if (ebur128_add_frames_float(st, block, got)) return 1;
    if (got < step) break;
    blocks++;
    if (blocks >= 4 && !ebur128_loudness_momentary(st, &value)) momentary = fmax(momentary, value);
    if (blocks >= 30 && !ebur128_loudness_shortterm(st, &value)) shortTerm = fmax(shortTerm, value);
  }
  if (ebur128_loudness_global(st, &global)) return 1;
  for (unsigned c = 0; c < channels; c++)
    if (!ebur128_true_peak(st, c, &value)) peak = fmax(peak, value);
  printf("%f %f %f %f", global, momentary, shortTerm, 20 * log10(peak));
  return 0;
}
`

/** Compiles a meter around libebur128 into a folder. */
export async function libebur128(folder: TestFolder) {
  const [source, meter] = [folder.file('meter.c'), folder.file('meter')]
  await writeFile(source, PROGRAM)
  await run('cc', ['-O2', '-o', meter, source, '-lebur128', '-lm'])
  return async (path: string, channels: number, sampleRate: number): Promise<Judgement> => {
    const { stdout } = await run(meter, [path, String(channels), String(sampleRate)])
    const [integrated = 0, momentary = 0, shortTerm = 0, peak = 0] = stdout.split(' ').map(Number)
    return { integrated, momentary, shortTerm, peak }
  }
}

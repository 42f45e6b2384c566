import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { DEFAULT_SERVICE_LIMITS, type Limits } from '../../../src/precheck/index.js'
import { processFile } from '../../../src/service/engine/process-file.js'
import { VoicePool } from '../../../src/voice/index.js'

const folder = mkdtempSync(join(tmpdir(), 'voxmux-codes-'))
const pool = new VoicePool({ workers: 1 })
afterAll(async () => {
  await pool.close()
  rmSync(folder, { recursive: true, force: true })
})

/** A second of a tone, or what the options make of it. */
function tone(path: string, ...options: string[]): void {
  const source = ['-f', 'lavfi', '-i', 'sine=d=1:r=16000']
  execFileSync('ffmpeg', ['-v', 'error', '-y', ...source, ...options, path])
}

/** A WAV whose header names a codec that nobody has. */
function unknownCodec(path: string): void {
  tone(path, '-f', 'wav')
  const bytes = readFileSync(path)
  bytes.writeUInt16LE(0x7abc, 20)
  writeFileSync(path, bytes)
}

/** A transport stream that announces sound and never sends any: its packets are left out. */
function announcedOnly(path: string): void {
  const video = ['-f', 'lavfi', '-i', 'testsrc=d=1:s=64x64', '-map', '1:v', '-map', '0:a']
  tone(path, ...video, '-c:v', 'mpeg2video', '-c:a', 'aac', '-mpegts_start_pid', '256', '-f', 'mpegts')
  const bytes = readFileSync(path)
  const packets = Array.from({ length: bytes.length / 188 }, (_, i) => bytes.subarray(188 * i, 188 * i + 188))
  writeFileSync(path, Buffer.concat(packets.filter((packet) => (packet.readUInt16BE(1) & 0x1fff) !== 257)))
}

function broken(path: string): void {
  tone(path, '-c:a', 'aac', '-f', 'mp4')
  truncateSync(path, 1500)
}

interface Row {
  readonly errorCode: number
  readonly file: string
  readonly make: (path: string) => void
  readonly limits?: Limits
}

const ROWS: readonly Row[] = [
  { errorCode: -2, file: 'a film cut off before its index', make: broken },
  { errorCode: -3, file: 'silence', make: (path) => tone(path, '-af', 'volume=0', '-f', 'wav') },
  { errorCode: -4, file: 'six channels', make: (path) => tone(path, '-ac', '6', '-f', 'wav') },
  { errorCode: -5, file: 'a rate over 192 kHz', make: (path) => tone(path, '-ar', '384000', '-f', 'wav') },
  { errorCode: -6, file: 'a rate under 8 kHz', make: (path) => tone(path, '-ar', '4000', '-f', 'wav') },
  { errorCode: -7, file: 'a codec nobody has', make: unknownCodec },
  {
    errorCode: -8,
    file: 'two audio tracks',
    make: (path) => tone(path, '-map', '0:a', '-map', '0:a', '-f', 'matroska'),
  },
  { errorCode: -2, file: 'a track that was announced and never sent', make: announcedOnly },
  {
    errorCode: -13,
    file: 'more bytes than are taken',
    make: (path) => tone(path, '-f', 'wav'),
    limits: { maxSizeBytes: 9999 },
  },
  { errorCode: -14, file: 'a hundredth of a second', make: (path) => tone(path, '-t', '0.01', '-f', 'wav') },
  {
    errorCode: -15,
    file: 'longer than is taken',
    make: (path) => tone(path, '-f', 'wav'),
    limits: { maxDurationSec: 0.5 },
  },
  { errorCode: -16, file: 'a container that is not taken', make: (path) => tone(path, '-f', 'au') },
  {
    errorCode: -18,
    file: 'a film without sound',
    make: (path) => tone(path, '-f', 'lavfi', '-i', 'color=d=1:s=64x64', '-map', '1:v', '-f', 'mp4'),
  },
]

test.each(ROWS)('$errorCode: $file', async ({ make, errorCode, limits }) => {
  const input = join(folder, 'input')
  const output = join(folder, 'output')
  make(input)
  const work = processFile({ input, output, pool, limits: { ...DEFAULT_SERVICE_LIMITS, ...limits } })
  await expect(work).rejects.toMatchObject({ errorCode })
  expect(existsSync(output)).toBe(false)
})

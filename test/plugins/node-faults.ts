import { open } from 'node:fs/promises'
import type { FaultyService } from '../helpers/system/faulty-service.js'

/** Operations that a fault may hit, with the place of the fault. A start is hit on both sides of the service. */
const KINDS = [
  ['startProcess', 'after'],
  ['upload', 'before'],
  ['registerFile', 'before'],
  ['startProcess', 'before'],
  ['getOutputFileUrl', 'after'],
] as const

/** Spreads faults evenly over the requests of `items` items, a fifth of them for each kind. */
export function sparseFaults(items: number, faults: number): FaultyService['plan'] {
  const each = faults / KINDS.length
  const distance = Math.floor(items / each)
  return (operation, nth) => {
    const kind = KINDS.findIndex(([name], index) => name === operation && nth % distance === index + 1)
    const isInTime = nth <= distance * each
    return kind >= 0 && isInTime ? KINDS[kind]?.[1] : undefined
  }
}

/**
 * Files that were started again without a question about their status in between. A start whose response was lost is
 * repeated with the same id if the file stays Pending: the service charges an id once.
 */
export function unasked({ files }: FaultyService): readonly string[] {
  return [...files].filter(([, done]) => /start,start/.test(done.join())).map(([id]) => id)
}

/** A sound of a second that differs from all others: mono, 16 kHz. */
export function numberedVoice(number: number): Buffer {
  const samples = Buffer.alloc(16_000 * 2)
  for (let at = 0; at < samples.length / 2; at++) {
    samples.writeInt16LE(Math.round(8000 * Math.sin((at * (100 + number)) / 2500)), at * 2)
  }
  return Buffer.concat([wavHeader(samples.length), samples])
}

/** The header of a WAV with one channel of 16 bits at 16 kHz. */
function wavHeader(dataBytes: number): Buffer {
  const header = Buffer.alloc(44)
  header.write('RIFF', 0)
  header.writeUInt32LE(36 + dataBytes, 4)
  header.write('WAVEfmt ', 8)
  header.writeUInt32LE(16, 16)
  header.writeUInt16LE(1, 20)
  header.writeUInt16LE(1, 22)
  header.writeUInt32LE(16_000, 24)
  header.writeUInt32LE(32_000, 28)
  header.writeUInt16LE(2, 32)
  header.writeUInt16LE(16, 34)
  header.write('data', 36)
  header.writeUInt32LE(dataBytes, 40)
  return header
}

/** A long, silent WAV of a given size. */
export function longVoice(sizeBytes: number): Buffer {
  const sound = Buffer.alloc(sizeBytes)
  wavHeader(sizeBytes - 44).copy(sound)
  return sound
}

/** Longest chunk that the header of a chunk can describe, rounded. */
const LONGEST_CHUNK = 4e9

/** Writes a sound of a second with as much padding as a size needs. The padding takes no space on the disk. */
export async function writePaddedVoice(path: string, sizeBytes: number): Promise<void> {
  const file = await open(path, 'w')
  try {
    const voice = numberedVoice(0)
    await file.write(voice, 0, voice.length, 0)
    const header = Buffer.from('JUNK\0\0\0\0')
    for (let at = voice.length; at < sizeBytes; at += header.length + LONGEST_CHUNK) {
      header.writeUInt32LE(Math.min(LONGEST_CHUNK, Math.max(0, sizeBytes - at - header.length)), 4)
      await file.write(header, 0, header.length, at)
    }
    await file.truncate(sizeBytes)
  } finally {
    await file.close()
  }
}

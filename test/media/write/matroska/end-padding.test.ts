import { expect, it } from 'vitest'
import { probe } from '../../../../src/media/probe/probe.js'
import type { BlockList } from '../../../../src/media/write/matroska/read/block-list.js'
import { readMatroska } from '../../../../src/media/write/matroska/read/matroska-file.js'
import { spliceableMatroska } from '../../../../src/media/write/matroska/spliceable-matroska.js'
import { ffmpeg, tone } from '../../../helpers/media-factory.js'
import { folderOfTests } from '../../../helpers/system/folder-of-tests.js'

const folder = folderOfTests()

it('adds the surplus of new packets to the end of the old ones that is not played', async () => {
  const path = folder.file('sound.mka')
  await ffmpeg(...tone(1.005), '-c:a', 'libopus', path)
  const media = await probe(path)
  const file = await readMatroska(path, media.sizeBytes)
  const [track] = file.tracks
  const [blocks] = [...file.blocks.values()] as [BlockList]
  if (!track) throw new Error('no sound')
  const spliceable = await spliceableMatroska(
    file,
    { track, blocks, shownTick: 0, isPrimingSignalled: true, packetCount: blocks.count, skipSamples: 0 },
    media,
  )
  if (typeof spliceable === 'string') throw new Error(spliceable)
  const last = blocks.count - 1
  const paddingNs = (surplusSamples: number) => {
    const same = { count: blocks.count, length: () => 1, offsetOf: (packet: number) => packet, surplusSamples }
    const timeOf = (packet: number) => ({ packet, behindSamples: 0 })
    const { packets } = spliceable.donorOf({ ...same, timeOf, firstAt: (old) => old })
    expect([...packets.discardPaddings.keys()]).toEqual([last])
    const bytes = packets.discardPaddings.get(last) as Buffer
    return bytes.readIntBE(0, bytes.length)
  }
  const before = paddingNs(0)
  expect(before).toBeGreaterThan(1e6)
  expect(paddingNs(480)).toBe(before + 1e7)
})

import { expect, it, onTestFinished } from 'vitest'
import { probe } from '../../../../src/media/probe/probe.js'
import { planMux } from '../../../../src/media/write/remux/mux-plan.js'
import { ffmpeg, testFolder, tone } from '../../../helpers/media-factory.js'

it('notes that FLAC of 8 bits becomes one of 16', async () => {
  const folder = await testFolder()
  onTestFinished(() => folder.remove())
  const path = folder.file('eight.flac')
  await ffmpeg(...tone(1), '-c:a', 'flac', path)
  const media = await probe(path)
  const notesOf = (bitsPerSample: number) => {
    const streams = media.streams.map((stream) => (stream.kind === 'audio' ? { ...stream, bitsPerSample } : stream))
    return planMux({ ...media, streams }, { replaced: [0] }).notes
  }
  expect(notesOf(8)).toEqual([expect.stringContaining('has 8 bits and becomes 16')])
  expect(notesOf(16)).toEqual([])
})

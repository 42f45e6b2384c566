import { expect, it } from 'vitest'
import { audioStreams } from '../../../src/media/media-info.js'
import { probe } from '../../../src/media/probe/probe.js'
import { rehearseMux } from '../../../src/media/verify/rehearse-mux.js'
import { planOutput } from '../../../src/media/write/plan-writing.js'
import { ffmpeg, tone } from '../../helpers/media-factory.js'
import { folderOfTests } from '../../helpers/system/folder-of-tests.js'

const folder = folderOfTests()

it.each([
  ['sound whose packets share one time', 0.2, 48_000, 'aac'],
  ['a few packets, which read like a program stream', 0.3, 8000, 'libmp3lame'],
])('measures and writes a transport stream of %s', async (_, sec, rate, codec) => {
  const path = folder.file(`${codec}.ts`)
  await ffmpeg(...tone(sec, rate), '-c:a', codec, path)
  const media = await probe(path)
  expect(media.container).toBe('ts')
  expect(media.durationSec).toBeGreaterThan(sec)
  expect(audioStreams(media)[0]?.durationSec).toBeGreaterThan(sec)
  await rehearseMux(await planOutput(media, { replaced: [0] }), { downmixed: new Set() })
})

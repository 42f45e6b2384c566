import { readFile, writeFile } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findFfprobe, forgetBinaries } from '../../../src/media/ffmpeg/binaries.js'
import { probe } from '../../../src/media/probe/probe.js'
import { ffmpeg, picture, tone } from '../../helpers/media-factory.js'
import { folderOfTests } from '../../helpers/system/folder-of-tests.js'

const folder = folderOfTests()

describe.skipIf(process.platform === 'win32')(
  'a track that a broadcast announces and does not send (not on Windows)',
  () => {
    const chosen = process.env.VOXMUX_FFPROBE
    beforeAll(async () => {
      const { path } = await findFfprobe()
      const script = `#!/bin/sh\necho "$*" >> ${folder.file('starts')}\nexec ${path} "$@"\n`
      await writeFile(folder.file('ffprobe'), script, { mode: 0o755 })
      process.env.VOXMUX_FFPROBE = folder.file('ffprobe')
      forgetBinaries()
    })
    afterAll(() => {
      if (chosen === undefined) delete process.env.VOXMUX_FFPROBE
      else process.env.VOXMUX_FFPROBE = chosen
      forgetBinaries()
    })

    it('is not sought in the whole file', async () => {
      const path = folder.file('announced.ts')
      const codecs = ['-c:v', 'mpeg2video', '-c:a', 'mp2', '-c:a:1', 'ac3']
      await ffmpeg(...picture(20), ...tone(20), ...['-map', '0', '-map', '1', '-map', '1'], ...codecs, path)
      const bytes = await readFile(path)
      const packets = Array.from({ length: bytes.length / 188 }, (_, place) =>
        bytes.subarray(188 * place, 188 * (place + 1)),
      )
      const sent = packets.filter((packet) => (packet.readUInt16BE(1) & 0x1fff) !== 0x102)
      await writeFile(path, Buffer.concat(sent))
      expect(await probe(path)).toMatchObject({ streams: [{}, { codec: 'mp2' }, { codec: 'ac3', sampleRate: 0 }] })
      const starts = await readFile(folder.file('starts'), 'utf8')
      expect(starts).not.toContain('-read_intervals')
    })
  },
)

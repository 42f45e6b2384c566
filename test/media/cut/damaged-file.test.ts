import { writeFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { cutVoice } from '../../../src/media/cut/cut.js'
import { probe } from '../../../src/media/probe/probe.js'
import { testFolder } from '../../helpers/media-factory.js'

it('blames a Musepack that ends early, which ffmpeg reports as a failure of the disk', async () => {
  const folder = await testFolder()
  const path = folder.file('short.mpc')
  await writeFile(path, Buffer.concat([Buffer.from('MP+\x07\x32\0\0\0\0\0\0\x01', 'latin1'), Buffer.alloc(132)]))
  const request = {
    audioIndex: 0,
    channels: { kind: 'all' },
    range: { startSample: 0, endSample: null },
    targetWithoutExtension: folder.file('short'),
  } as const
  const cut = cutVoice(await probe(path), [request])
  await expect(cut).rejects.toMatchObject({ code: 'ERR_UNREADABLE', exitCode: 5, errorCode: -2 })
  await folder.remove()
})

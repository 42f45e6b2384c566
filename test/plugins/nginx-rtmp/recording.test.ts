import { chmod, copyFile, mkdir, readdir, stat } from 'node:fs/promises'
import { basename } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { ffmpeg, picture, type TestFolder, testFolder, tone } from '../../helpers/media-factory.js'
import { waitForJobs } from '../../helpers/spooled-jobs.js'
import { missingRtmp, type RtmpServer, startRtmpServer } from './rtmp-server.js'

const HOOK = fileURLToPath(new URL('../../../shell/spool-job.sh', import.meta.url))

if (missingRtmp) process.stderr.write(`nginx-rtmp is not tested: ${missingRtmp}.\n`)

describe.skipIf(missingRtmp !== null)('a real nginx that records', () => {
  let folder: TestFolder
  let server: RtmpServer

  beforeEach(async () => {
    folder = await testFolder()
    await chmod(folder.path, 0o755)
    // As an administrator sets it up: the server's user may write the recordings and spool jobs, and nothing else.
    for (const name of ['recordings', 'spool']) {
      await mkdir(folder.file(name))
      await chmod(folder.file(name), 0o777)
    }
    await copyFile(HOOK, folder.file('spool-job.sh'))
    server = await startRtmpServer(folder.file('nginx'), [
      `record all; record_path ${folder.file('recordings')}; record_unique on;`,
      `exec_record_done ${folder.file('spool-job.sh')} ${folder.file('spool')} $path ${folder.file('finished')}/;`,
    ])
  })
  afterEach(async () => {
    await server.stop()
    await folder.remove()
  })

  it('queues each recording once it is whole, as nobody and with an empty environment', async () => {
    await publish(`${server.url}/Höhe%20"1"`)
    const [job] = await waitForJobs(folder.file('spool'), 1)
    const recordings = await readdir(folder.file('recordings'))
    expect(recordings).toHaveLength(1)
    expect(job).toEqual({
      input: folder.file(`recordings/${recordings[0]}`),
      output: `${folder.file('finished')}/`,
    })
    const [name] = await readdir(folder.file('spool'))
    const { uid } = await stat(folder.file(`spool/${basename(name ?? '')}`))
    expect(uid).toBe((await stat(folder.file(`recordings/${recordings[0]}`))).uid)
    expect(await server.log()).not.toMatch(/\[(error|alert|crit)\]/)
  })
})

function publish(url: string): Promise<void> {
  const encoding = ['-c:v', 'libx264', '-preset', 'ultrafast', '-g', '25', '-c:a', 'aac', '-ar', '44100']
  return ffmpeg(...picture(2), ...tone(2, 44_100), ...encoding, '-f', 'flv', url)
}

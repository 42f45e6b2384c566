import { writeFile } from 'node:fs/promises'
import { expect, it, onTestFinished } from 'vitest'
import { VoxmuxClient } from '../../src/client/index.js'
import { silentLogger } from '../../src/core/logger.js'
import { openSharedLedger } from '../../src/ledger/index.js'
import { openWebhookIntake } from '../../src/pipeline/voice/webhook-intake.js'
import { FaultServer } from '../helpers/fault-server.js'
import { testFolder } from '../helpers/media-factory.js'
import { freePort } from '../helpers/system/free-port.js'
import { describeOnPostgres } from '../helpers/system/postgres-server.js'
import { until } from '../helpers/until.js'

const HOUR_MS = 3_600_000

describeOnPostgres('one receiver of webhooks for a farm', (store) => {
  it('wakes the process of another machine that waits for the file', async () => {
    let release = () => {}
    const released = new Promise<void>((resolve) => {
      release = resolve
    })
    const server = await FaultServer.start({
      states: (file) => [{ status: file.outputPath ? 'Succeeded' : 'InProgress', errorCode: 0, progress: 50 }],
      regenerate: async (path) => {
        await released
        return path
      },
    })
    const folder = await testFolder()
    const port = await freePort()
    /** A machine that would ask once an hour. */
    const machine = async (listen?: string) => {
      const ledger = await openSharedLedger(store().url)
      const access = server.clientOptions
      const polling = { minMs: HOUR_MS, maxMs: HOUR_MS, hookedMs: HOUR_MS }
      const client = new VoxmuxClient({ ...access, polling })
      const settings = listen === undefined ? {} : { listen }
      const intake = await openWebhookIntake({ settings, access, client, news: ledger.news, logger: silentLogger })
      if (!intake) throw new Error('no webhooks')
      onTestFinished(async () => {
        client.close()
        await intake.close()
        await ledger.close()
      })
      return { client, start: intake.start }
    }
    onTestFinished(async () => {
      await server.close()
      await folder.remove()
    })
    await machine(`127.0.0.1:${port}`)
    const other = await machine()
    server.behaviour.webhook = { url: `http://127.0.0.1:${port}/`, secret: 'of the portal' }

    await writeFile(folder.file('voice.wav'), 'voice')
    const { file_id } = await other.client.registerAndUpload({ clientFileId: 'voice.wav' }, folder.file('voice.wav'))
    await other.client.startOnce(file_id, { model: 'regen_v1', ...other.start })
    const waiting = other.client.waitFor(file_id)
    await until(() => server.calls.getFilesStatus > 0)
    release()
    expect(await waiting).toMatchObject({ status: 'Succeeded' })
  })
})

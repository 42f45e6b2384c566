import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { onTestFinished } from 'vitest'
import { freePort } from '../../helpers/system/free-port.js'

/** Where the emulator is; undefined where it is not installed, which {@link AZURITE_MISSING} explains. */
export const AZURITE = process.env.VOXMUX_AZURITE

export const AZURITE_MISSING = 'skipped: VOXMUX_AZURITE does not name an azurite-blob (npm install azurite)'

/** Account and key that the emulator is born with: public, the same everywhere. */
const KEY = 'Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=='

/** The official emulator of Azure Blob Storage until the end of the test. @returns its connection string */
export async function withAzurite(folder: string): Promise<string> {
  const { connectionString, stop } = await startAzurite(folder)
  onTestFinished(stop)
  return connectionString
}

/** Starts the emulator; `stop` ends it. */
export async function startAzurite(folder: string) {
  const port = await freePort()
  const options = ['--blobPort', String(port), '--location', folder, '--silent', '--skipApiVersionCheck']
  const child = spawn(AZURITE ?? '', options, { stdio: 'ignore' })
  const stop = async () => {
    child.kill()
    await once(child, 'exit')
  }
  for (let up = false; !up; await delay(100))
    up = await fetch(`http://127.0.0.1:${port}/devstoreaccount1`).then(
      () => true,
      () => false,
    )
  const endpoint = `http://127.0.0.1:${port}/devstoreaccount1`
  const account = `AccountName=devstoreaccount1;AccountKey=${KEY}`
  return { connectionString: `DefaultEndpointsProtocol=http;${account};BlobEndpoint=${endpoint};`, stop }
}

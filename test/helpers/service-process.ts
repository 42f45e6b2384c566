import { join } from 'node:path'
import { freePort } from './system/free-port.js'
import { eventsOf, type RunningCli, runCli, startCli } from './voxmux-cli.js'

/** `voxmux serve` as a process of its own, which can die and come back at the same address with all that it kept. */
export class ServiceProcess {
  /** Everything that it keeps. */
  readonly data: string
  /** What a client must have in its environment. */
  readonly env: Readonly<Record<string, string>>
  readonly #folder: string
  readonly #port: number
  #running: RunningCli | undefined

  private constructor(folder: string, port: number, env: Readonly<Record<string, string>>) {
    this.#folder = folder
    this.data = join(folder, 'service')
    this.#port = port
    this.env = env
  }

  /** Makes a service with a key of its own in a folder, and starts it. */
  static async start(folder: string): Promise<ServiceProcess> {
    const port = await freePort()
    const key = await portal(folder, 'keys', 'create', '--name', 'test')
    const service = new ServiceProcess(folder, port, {
      VOXMUX_BASE_URL: `http://127.0.0.1:${port}`,
      VOXMUX_AUTH_URL: `http://127.0.0.1:${port}/identity`,
      VOXMUX_TENANT_ID: String(key.tenant_id),
      VOXMUX_CLIENT_ID: String(key.client_id),
      VOXMUX_CLIENT_SECRET: String(key.client_secret),
      VOXMUX_SCOPE: String(key.scope),
    })
    await service.start()
    return service
  }

  /** Starts it again. Ends when it listens. */
  async start(): Promise<void> {
    this.#running = startCli(['serve', '--data', this.data, '--port', String(this.#port), '--json'], {
      cwd: this.#folder,
    })
    await this.#running.until(/"event":"listening"/)
  }

  /** kill -9: from now on nobody listens. */
  async kill(): Promise<void> {
    this.#running?.child.kill('SIGKILL')
    await this.#running?.ended
  }

  /** Seconds of audio that may still be processed. */
  async credits(): Promise<number> {
    return Number((await portal(this.#folder, 'show')).creditsSec)
  }

  async setCredits(sec: number): Promise<void> {
    await portal(this.#folder, 'credits', 'set', String(sec))
  }
}

async function portal(folder: string, ...words: readonly string[]): Promise<Readonly<Record<string, unknown>>> {
  const result = await runCli(['portal', ...words, '--data', join(folder, 'service'), '--json'], { cwd: folder })
  const [event] = eventsOf(result)
  if (result.exitCode !== 0 || !event) throw new Error(`voxmux portal ${words.join(' ')}: ${result.stderr}`)
  return event
}

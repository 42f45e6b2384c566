import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { freePort } from '../../helpers/system/free-port.js'

const NGINX = '/usr/sbin/nginx'
const RTMP_MODULE = '/usr/lib/nginx/modules/ngx_rtmp_module.so'

/** Why no RTMP server can be started on this machine; null where it can. */
export const missingRtmp = [NGINX, RTMP_MODULE].every((path) => existsSync(path))
  ? null
  : `${NGINX} with ${RTMP_MODULE} is not installed (apt-get install nginx libnginx-mod-rtmp)`

/** A real nginx of a test's own that records what is published. */
export interface RtmpServer {
  /** Where to publish; the stream's name follows. */
  readonly url: string
  /** What it wrote into its error log. */
  readonly log: () => Promise<string>
  readonly stop: () => Promise<void>
}

/**
 * Starts nginx on loopback.
 *
 * @param folder a folder of the test's own, for nginx's files
 * @param application directives of `application live`
 */
export async function startRtmpServer(folder: string, application: readonly string[]): Promise<RtmpServer> {
  await mkdir(folder, { recursive: true })
  await chmod(folder, 0o755)
  const [port, errorLog] = [await freePort(), join(folder, 'error.log')]
  // Only root can become somebody else; then the hook runs as nobody, as it does on a server.
  const user = process.getuid?.() === 0 ? 'user nobody nogroup;' : ''
  await writeFile(
    join(folder, 'nginx.conf'),
    `load_module ${RTMP_MODULE};
     daemon off; ${user} worker_processes 1; pid ${join(folder, 'nginx.pid')}; error_log ${errorLog} info;
     events { worker_connections 64; }
     rtmp {
       access_log off;
       server { listen 127.0.0.1:${port}; application live { live on; ${application.join('\n')} } }
     }`,
  )
  const child = spawn(NGINX, ['-c', join(folder, 'nginx.conf'), '-e', errorLog], { stdio: 'ignore' })
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()))
  const log = () => readFile(errorLog, 'utf8').catch(() => '')
  while (!(await answers(port))) {
    if (child.exitCode !== null) throw new Error(`nginx did not start:\n${await log()}`)
    await delay(20)
  }
  const stop = () => {
    child.kill('SIGTERM')
    return ended
  }
  return { url: `rtmp://127.0.0.1:${port}/live`, log, stop }
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
    socket.once('connect', () => socket.destroy())
  })
}

import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { freePort } from '../helpers/system/free-port.js'
import { until } from '../helpers/until.js'
import { type OwnRedis, startRedis } from './redis-fixture.js'

/** A primary with two replicas, and a sentinel that promotes one of them when the primary is gone. */
export interface RedisGroup {
  /** By the sentinel, without further parameters. */
  readonly url: string
  readonly primary: OwnRedis
  /** Where the sentinel says that the primary is. */
  primaryPort(): Promise<number>
  stop(): Promise<void>
}

export async function startRedisGroup(): Promise<RedisGroup> {
  const careful = ['--min-replicas-to-write', '1', '--min-replicas-max-lag', '10', '--repl-diskless-sync-delay', '0']
  const primary = await startRedis(careful)
  const following = [...careful, '--replicaof', '127.0.0.1', String(primary.port)]
  const replicas = [await startRedis(following), await startRedis(following)]
  const asked = new Redis(primary.url)
  await until(async () => /connected_slaves:2/.test(await asked.info('replication')))
  await until(async () => (await asked.info('replication')).match(/state=online/g)?.length === 2)
  asked.disconnect()
  const sentinel = await startSentinel(primary.port)
  return {
    url: `redis://127.0.0.1:${sentinel.port}?sentinel=voxmux`,
    primary,
    primaryPort: sentinel.primaryPort,
    stop: async () => {
      await sentinel.stop()
      for (const redis of [primary, ...replicas]) await redis.stop()
    },
  }
}

async function startSentinel(primaryPort: number) {
  const port = await freePort()
  const folder = mkdtempSync(join(tmpdir(), 'voxmux-sentinel-'))
  const config = join(folder, 'sentinel.conf')
  const monitored = [
    `sentinel monitor voxmux 127.0.0.1 ${primaryPort} 1`,
    'sentinel down-after-milliseconds voxmux 1000',
    'sentinel failover-timeout voxmux 10000',
  ]
  writeFileSync(config, [`port ${port}`, 'bind 127.0.0.1', `dir ${folder}`, ...monitored, ''].join('\n'))
  const child: ChildProcess = spawn('redis-server', [config, '--sentinel'], { stdio: 'ignore' })
  const client = new Redis(port, '127.0.0.1')
  client.on('error', () => {})
  // It has to know the replicas before the primary is lost.
  await until(async () => ((await client.call('SENTINEL', 'REPLICAS', 'voxmux')) as unknown[]).length === 2)
  return {
    port,
    primaryPort: async () => {
      const [, found] = (await client.call('SENTINEL', 'GET-MASTER-ADDR-BY-NAME', 'voxmux')) as string[]
      return Number(found)
    },
    stop: async () => {
      client.disconnect()
      const gone = new Promise((resolve) => child.once('exit', resolve))
      child.kill('SIGKILL')
      await gone
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

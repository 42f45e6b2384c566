import { execFileSync } from 'node:child_process'
import { chmodSync, chownSync, mkdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it, onTestFinished } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { settingsSchema } from '../../../../src/config/settings-schema.js'
import { openSharedLedger, parseStoreAddress } from '../../../../src/ledger/index.js'
import { NO_MOUNTS } from '../../../helpers/system/mount-space.js'
import { describeOnPostgres } from '../../../helpers/system/postgres-server.js'
import { postgresProgram } from '../../../helpers/system/postgres-template.js'
import { runCli } from '../../../helpers/voxmux-cli.js'
import { openWorkshop } from '../../../helpers/workshop.js'

const path = (name: string) =>
  fileURLToPath(new URL(`../../../../plugins/watch-folder/deploy/farm/${name}`, import.meta.url))
const text = (name: string) => readFileSync(path(name), 'utf8')

// biome-ignore lint/suspicious/noExplicitAny: the shape is what is tested
type Parsed = any

const documents = (): Parsed[] =>
  parseAllDocuments(text('kubernetes.yaml')).map((document) => {
    expect([document.errors, document.warnings]).toEqual([[], []])
    return document.toJS()
  })
const ofKind = (kind: string): Parsed[] => documents().filter((document) => document.kind === kind)
const COMMANDS = [
  ['watch', '--ingest-only', '--config', '/etc/voxmux/farm.json'],
  ['worker', '--config', '/etc/voxmux/farm.json'],
]

describe('the farm in containers', () => {
  const compose: Parsed = parse(text('compose.yaml'), { merge: true })

  it('has one database, one service, one process that queues and workers that process', () => {
    expect(Object.keys(compose.services)).toEqual(['db', 'serve', 'ingest', 'worker'])
    const { db, serve, ingest, worker } = compose.services
    expect([ingest.command, worker.command]).toEqual(COMMANDS)
    expect(serve.command).toEqual(['serve', '--host', '127.0.0.1', '--port', '8080', '--data', '/srv/voxmux'])
    expect([ingest.network_mode, worker.network_mode]).toEqual(['service:serve', 'service:serve'])
    expect(db.image).toMatch(/^postgres:1[3-8]$/)
    for (const { cap_drop, read_only, security_opt } of [serve, ingest, worker])
      expect([cap_drop, read_only, security_opt]).toEqual([['ALL'], true, ['no-new-privileges:true']])
    for (const { ports } of [serve, db]) for (const port of ports ?? []) expect(port).toMatch(/^127\.0\.0\.1:/)
    const { host } = parseStoreAddress(worker.environment.VOXMUX_STORE, {}).hosts[0] ?? {}
    expect(host).toBe('db')
  })

  it('has every volume that it mounts, and a configuration that voxmux takes', () => {
    for (const service of Object.values<Parsed>(compose.services))
      for (const volume of service.volumes) {
        const [source] = volume.split(':')
        if (!source.startsWith('./')) expect(compose.volumes).toHaveProperty(source)
        else if (source !== './media') expect(text(source)).not.toBe('')
      }
    expect(settingsSchema.parse(JSON.parse(text('farm.json'))).watch?.folders).toHaveLength(1)
  })
})

describe('the farm on Kubernetes', () => {
  it('mounts what it has, under labels that its selectors find', () => {
    const claims = ofKind('PersistentVolumeClaim').map(({ metadata }) => metadata.name)
    const maps = ofKind('ConfigMap').map(({ metadata }) => metadata.name)
    const deployments = ofKind('Deployment')
    expect(deployments.map(({ spec }) => spec.template.spec.containers[0].args)).toEqual(COMMANDS)
    for (const { spec } of deployments) {
      const { metadata, spec: pod } = spec.template
      expect(metadata.labels).toEqual(spec.selector.matchLabels)
      expect(pod.securityContext.runAsNonRoot).toBe(true)
      const names = pod.volumes.map(({ name }: Parsed) => name)
      for (const { persistentVolumeClaim, configMap } of pod.volumes) {
        if (persistentVolumeClaim) expect(claims).toContain(persistentVolumeClaim.claimName)
        if (configMap) expect(maps).toContain(configMap.name)
      }
      for (const { volumeMounts, securityContext } of pod.containers) {
        expect(volumeMounts.map(({ name }: Parsed) => name)).toEqual(names)
        expect(securityContext.readOnlyRootFilesystem).toBe(true)
      }
    }
    const [config] = ofKind('ConfigMap')
    expect(JSON.parse(config.data['farm.json'])).toEqual(JSON.parse(text('farm.json')))
  })

  it.skipIf(NO_MOUNTS || process.getuid?.() !== 0)(
    'keeps its state in a volume of Kubernetes, which belongs to root and lets all users write (needs root)',
    async () => {
      const shop = openWorkshop()
      onTestFinished(() => shop.remove())
      mkdirSync(shop.path('volume'))
      chownSync(shop.path('volume'), 4712, 4711)
      chmodSync(shop.path('volume'), 0o2777)
      for (const { spec } of ofKind('Deployment')) {
        const [{ volumeMounts }] = spec.template.spec.containers
        const { mountPath } = volumeMounts.find(({ name }: Parsed) => name === 'state')
        const inImage = /VOXMUX_STATE_DIR=(\S+)/.exec(text('../Dockerfile'))?.[1] ?? ''
        expect(inImage.startsWith(mountPath)).toBe(true)
        const VOXMUX_STATE_DIR = inImage.replace(mountPath, shop.path('volume'))
        const { exitCode, stderr } = await runCli(['jobs', 'list'], {
          ...{ cwd: shop.dir, env: { ...shop.env, VOXMUX_STATE_DIR } },
          through: ['unshare', '--user', '--map-user=4711'],
        })
        expect([exitCode, stderr]).toEqual([0, expect.stringContaining('No jobs')])
      }
    },
  )

  it('scales the workers by what waits, with the secret that they have', () => {
    const [scaled] = ofKind('ScaledObject')
    const [access] = ofKind('TriggerAuthentication')
    const [trigger] = scaled.spec.triggers
    expect(ofKind('Deployment').map(({ metadata }) => metadata.name)).toContain(scaled.spec.scaleTargetRef.name)
    expect([trigger.type, trigger.authenticationRef.name]).toEqual(['postgresql', access.metadata.name])
    expect(access.spec.secretTargetRef).toEqual([{ parameter: 'connection', name: 'voxmux', key: 'VOXMUX_STORE' }])
  })
})

it('runs the same on Nomad', () => {
  const job = text('voxmux.nomad.hcl')
  const commands = [...job.matchAll(/^\s*args\s*= (\[.*\])$/gm)].map(([, list]) => JSON.parse(list ?? ''))
  expect(commands).toEqual(COMMANDS.map((command) => [...command.slice(0, -1), '/local/farm.json']))
  expect(job.match(/[{[]/g)?.length).toBe(job.match(/[}\]]/g)?.length)
})

describeOnPostgres('the database of a farm', (own) => {
  it('has a role with its own tables and nothing else, and a depth that KEDA can read', async () => {
    const server = own()
    server.query('DROP DATABASE voxmux', 'postgres')
    server.query('DROP ROLE voxmux', 'postgres')
    const args = ['-X', '-q', '-h', server.folder, '-p', String(server.port), '-U', 'postgres', '-d', 'postgres']
    execFileSync(postgresProgram('psql'), [...args, '-f', path('database.sql')], {
      env: { ...process.env, VOXMUX_DB_PASSWORD: "it's" },
    })
    expect(
      server.query(
        "SELECT rolsuper, rolcreatedb, rolcreaterole, rolpassword <> '' FROM pg_authid WHERE rolname = 'voxmux'",
      ),
    ).toEqual(['f|f|f|t'])
    const ledger = await openSharedLedger(server.url)
    onTestFinished(() => ledger.close())
    const [trigger] = ofKind('ScaledObject')[0].spec.triggers
    const depth = () => Number(server.query(`SET ROLE voxmux; ${trigger.metadata.query}`)[0])
    for (const key of ['a', 'b', 'c']) await ledger.jobs.enqueue({ key, group: 'g', input: `/${key}` })
    expect(depth()).toBe(3)
    const claimed = await ledger.jobs.claimNext()
    expect(depth()).toBe(3)
    if (claimed) await ledger.jobs.complete(claimed.lease, { status: 'done' })
    expect(depth()).toBe(2)
    expect(() => server.query('SET ROLE voxmux; CREATE DATABASE other')).toThrow()
    expect(() => server.query('SET ROLE voxmux; CREATE TABLE public.mine (a int)')).toThrow()
  })
})

import { Gauge, type Registry } from 'prom-client'
import { withinPatience } from '../dashboard/shown-jobs.js'
import type { GaugeSources } from './gauge-sources.js'

/** Adds the gauges of jobs, spending, folders and pauses, read at every scrape; without the first two while the store is away. */
export function addDaemonGauges(registry: Registry, { version, jobs, spending, daemon }: GaugeSources): void {
  const registers = [registry]
  const folderOf = (group: string) => daemon.folders.find((folder) => folder.group === group)?.path ?? group
  new Gauge({
    ...{ name: 'voxmux_build_info', help: 'Running version of voxmux and Node; always 1.', registers },
    labelNames: ['version', 'node'],
  }).set({ version, node: process.versions.node }, 1)
  new Gauge({
    ...{ name: 'voxmux_jobs', help: 'Jobs in the store, by folder and status.', registers },
    labelNames: ['folder', 'status'],
    async collect() {
      this.reset()
      const counts = await jobs.counts().catch(() => [])
      for (const { group, status, count } of counts) this.inc({ folder: folderOf(group), status }, count)
    },
  })
  new Gauge({
    ...{ name: 'voxmux_queue_depth', help: 'Jobs that wait for their turn.', registers },
    labelNames: ['folder'],
    async collect() {
      this.reset()
      const counts = await jobs.counts().catch(() => null)
      if (counts === null) return
      for (const { path } of daemon.folders) this.set({ folder: path }, 0)
      for (const { group, status, count } of counts)
        if (status === 'queued') this.inc({ folder: folderOf(group) }, count)
    },
  })
  new Gauge({
    ...{ name: 'voxmux_spent_seconds', help: 'Seconds of voice of this day (UTC), paid for or reserved.', registers },
    labelNames: ['state'],
    async collect() {
      this.reset()
      const spent = await withinPatience(spending.spent()).catch(() => null)
      if (spent === null) return
      this.set({ state: 'paid' }, spent.committedSec)
      this.set({ state: 'reserved' }, spent.reservedSec)
    },
  })
  new Gauge({
    ...{ name: 'voxmux_folder_watched', help: '1 while the folder is watched, 0 offline or paused.', registers },
    labelNames: ['folder', 'state'],
    collect() {
      this.reset()
      for (const { path, state } of daemon.folders) this.set({ folder: path, state }, state === 'watching' ? 1 : 0)
    },
  })
  new Gauge({
    ...{ name: 'voxmux_arriving_files', help: 'Files that are there and not whole yet.', registers },
    labelNames: ['folder'],
    collect() {
      this.reset()
      for (const { path, waitingFiles } of daemon.folders) this.set({ folder: path }, waitingFiles)
    },
  })
  new Gauge({
    ...{ name: 'voxmux_pauses', help: 'Reasons for which nothing new is taken, of one folder or of all.', registers },
    async collect() {
      this.set((await jobs.pauses()).length)
    },
  })
}

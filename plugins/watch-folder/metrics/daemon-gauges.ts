import { Gauge, type Registry } from 'prom-client'
import { ownPauses, withinPatience } from '../dashboard/shown-jobs.js'
import type { GaugeSources } from './gauge-sources.js'

/** Adds the gauges of jobs, spending, folders and pauses, read at every scrape; without the first two while the store is away. */
export function addDaemonGauges(registry: Registry, { version, jobs, spending, daemon }: GaugeSources): void {
  const folderOf = (group: string) => daemon.folders.find((folder) => folder.group === group)?.path ?? group
  const add = gaugesOf(registry)
  add('voxmux_build_info', 'Running version of voxmux and Node; always 1.', ['version', 'node'], (gauge) => {
    gauge.set({ version, node: process.versions.node }, 1)
  })
  add('voxmux_jobs', 'Jobs in the store, by folder and status.', ['folder', 'status'], async (gauge) => {
    const counts = await jobs.counts().catch(() => [])
    for (const { group, status, count } of counts) gauge.inc({ folder: folderOf(group), status }, count)
  })
  add('voxmux_queue_depth', 'Jobs that wait for their turn.', ['folder'], async (gauge) => {
    const counts = await jobs.counts().catch(() => null)
    if (counts === null) return
    for (const { path } of daemon.folders) gauge.set({ folder: path }, 0)
    for (const { group, status, count } of counts)
      if (status === 'queued') gauge.inc({ folder: folderOf(group) }, count)
  })
  add('voxmux_spent_seconds', 'Seconds of voice of this day (UTC), paid for or reserved.', ['state'], async (gauge) => {
    const spent = await withinPatience(spending.spent()).catch(() => null)
    if (spent === null) return
    gauge.set({ state: 'paid' }, spent.committedSec)
    gauge.set({ state: 'reserved' }, spent.reservedSec)
  })
  const watched = '1 while the folder is watched, 0 offline or paused.'
  add('voxmux_folder_watched', watched, ['folder', 'state'], (gauge) => {
    for (const { path, state } of daemon.folders) gauge.set({ folder: path, state }, state === 'watching' ? 1 : 0)
  })
  add('voxmux_arriving_files', 'Files that are there and not whole yet.', ['folder'], (gauge) => {
    for (const { path, waitingFiles } of daemon.folders) gauge.set({ folder: path }, waitingFiles)
  })
  add('voxmux_pauses', 'Reasons for which nothing new is taken, of one folder or of all.', [], async (gauge) => {
    gauge.set((await ownPauses(jobs, daemon)).length)
  })
}

/** Adds gauges to a registry. Each is emptied and filled again at every scrape. */
function gaugesOf(registry: Registry) {
  return <Label extends string>(
    name: string,
    help: string,
    labelNames: readonly Label[],
    fill: (gauge: Gauge<Label>) => void | Promise<void>,
  ) => {
    const collect = function (this: Gauge<Label>) {
      this.reset()
      return fill(this)
    }
    new Gauge({ ...{ name, help, labelNames }, registers: [registry], collect })
  }
}

import { announce } from './announce.js'
import { follow } from './connection.js'
import { byId, setText } from './elements.js'
import { plural } from './format.js'
import { startDetail } from './job-detail.js'
import { refreshList, showTabCounts, startLists } from './job-lists.js'
import { countOf, ownGroups, showFolders, showLive, showPauses, showStatus } from './overview.js'

/** Last state from the server. */
let overview = { folders: [], pauses: [], counts: [] }
const live = new Map()
let isConnected = true

startLists()
startDetail()
follow({
  connected(is) {
    isConnected = is
    showStatus(overview, isConnected)
  },
  snapshot(all) {
    live.clear()
    for (const job of all.live) live.set(job.id, job)
    takeOverview(all, false)
    setText(byId('version'), all.version)
    void refreshList()
  },
  overview(next) {
    takeOverview(next, true)
  },
  live({ changed, gone }) {
    for (const id of gone) live.delete(id)
    for (const job of changed) live.set(job.id, job)
    showLive([...live.values()], overview)
  },
})
// Keeps texts such as `3 min. ago` current.
setInterval(() => {
  if (!document.hidden) void refreshList()
}, 30_000)

function takeOverview(next, isNews) {
  const before = overview
  overview = next
  showStatus(next, isConnected)
  showPauses(next)
  showFolders(next)
  showTabCounts(next)
  showLive([...live.values()], next)
  if (!isNews) return
  void refreshList()
  for (const [statuses, word] of [
    [['done', 'skipped'], 'finished'],
    [['failed', 'rejected'], 'failed'],
  ]) {
    const isOwn = ownGroups(next)
    const more = countOf(next.counts, statuses, isOwn) - countOf(before.counts, statuses, isOwn)
    if (more > 0) announce(`${plural(more, 'file')} ${word}.`)
  }
}

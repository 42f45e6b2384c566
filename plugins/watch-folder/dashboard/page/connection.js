/**
 * Follows the events of the server. After a break, the browser reconnects by itself and receives the whole state again.
 *
 * @param {{ snapshot: (all: object) => void, overview: (o: object) => void, live: (l: object) => void,
 *   connected: (is: boolean) => void }} told
 */
export function follow(told) {
  let bootId
  const source = new EventSource('/events')
  source.addEventListener('snapshot', ({ data }) => {
    const snapshot = JSON.parse(data)
    // The server restarted, so the token of this page is no longer valid.
    if (bootId !== undefined && bootId !== snapshot.bootId) location.reload()
    bootId = snapshot.bootId
    told.connected(true)
    told.snapshot(snapshot)
  })
  source.addEventListener('overview', ({ data }) => told.overview(JSON.parse(data)))
  source.addEventListener('live', ({ data }) => told.live(JSON.parse(data)))
  source.addEventListener('error', () => {
    told.connected(false)
    // A refusal (too many pages) ends the browser's own attempts.
    if (source.readyState === EventSource.CLOSED) setTimeout(() => follow(told), 5000)
  })
}

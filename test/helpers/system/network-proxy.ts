import { connect, createServer, type Server, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'

/** A network between a process and its store that can be cut. */
export interface NetworkProxy {
  /** The address of the store by way of this network. */
  readonly url: string
  readonly port: number
  /** From now on nothing arrives and nobody is told, as with a pulled cable. */
  cut(): void
  /** What was cut off is noticed, and connections can be made again. */
  heal(): void
  /** Breaks the connection right after the store has done what it is asked next with this word in it, before it is heard. */
  loseAnswerTo(word: string): void
}

export async function proxyTo(address: string): Promise<NetworkProxy> {
  const url = new URL(address)
  const sockets = new Set<Socket>()
  let isCut = false
  let fatalWord: string | null = null
  const server: Server = createServer((near) => {
    if (isCut) {
      near.destroy()
      return
    }
    const far = connect(Number(url.port), '127.0.0.1')
    let isLosing = false
    const asked = (data: Buffer) => {
      if (isCut) return
      if (fatalWord !== null && data.includes(fatalWord)) {
        fatalWord = null
        isLosing = true
      }
      far.write(data)
    }
    const answered = (data: Buffer) => {
      if (isLosing) near.destroy()
      else if (!isCut) near.write(data)
    }
    near.on('data', asked)
    far.on('data', answered)
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(socket)
      socket.on('close', () => other.destroy())
      socket.on('error', () => other.destroy())
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  const { port: ours } = server.address() as { port: number }
  return {
    url: Object.assign(new URL(url), { port: String(ours) }).href,
    port: ours,
    cut: () => {
      isCut = true
    },
    heal: () => {
      isCut = false
      for (const socket of sockets) socket.destroy()
    },
    loseAnswerTo: (word) => {
      fatalWord = word
    },
  }
}

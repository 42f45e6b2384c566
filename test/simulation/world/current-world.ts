import type { World } from './world.js'

let running: World | null = null

/** The world that voxmux runs in now; null: the real one. */
export function currentWorld(): World | null {
  return running
}

export function setCurrentWorld(world: World | null): void {
  running = world
}

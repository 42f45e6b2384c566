import { Service } from '../world/service.js'
import type { World } from '../world/world.js'

const services = new WeakMap<World, Service>()

/** The service of a world. */
export function serviceOf(world: World): Service {
  const service = services.get(world) ?? new Service(world)
  services.set(world, service)
  return service
}

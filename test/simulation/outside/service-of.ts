import { Network } from '../world/network.js'
import { Service } from '../world/service.js'
import type { World } from '../world/world.js'

const services = new WeakMap<World, Service>()
const networks = new WeakMap<World, Network>()

/** The service of a world. */
export function serviceOf(world: World): Service {
  const service = services.get(world) ?? new Service(world)
  services.set(world, service)
  return service
}

/** The network between voxmux and the service of a world. */
export function networkOf(world: World): Network {
  const network = networks.get(world) ?? new Network(world, serviceOf(world))
  networks.set(world, network)
  return network
}

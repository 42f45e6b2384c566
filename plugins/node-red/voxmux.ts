/** The module that Node-RED loads: the nodes `voxmux-service` (an API key) and `voxmux` (regenerates a file). */
import { webhookBodySchema } from '../../src/contract/index.js'
import { regenerateMessage } from './regenerate-message.js'
import type { FlowNode, Message, Runtime } from './runtime.js'
import { openService, type ServiceConfig, type ServiceNode, testService } from './service-node.js'

interface RegenerateConfig {
  readonly service: string
  /** File, or folder with a slash at its end; empty for bytes in the payload. */
  readonly output: string
  readonly outputType: string
  readonly webhook: boolean
}

export default function register(RED: Runtime): void {
  registerService(RED)
  registerRegenerate(RED)
  RED.httpAdmin.post('/voxmux/test', RED.auth.needsPermission('voxmux.write'), async (request, response) => {
    const { id, ...values } = request.body ?? {}
    const kept = RED.nodes.getCredentials(String(id)) ?? {}
    const answer = await testService(values as Partial<ServiceConfig>, kept)
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify(answer))
  })
}

function registerService(RED: Runtime): void {
  RED.nodes.registerType<ServiceConfig>(
    'voxmux-service',
    function (this: FlowNode, config) {
      RED.nodes.createNode(this, config)
      openService(this as ServiceNode, config)
    },
    {
      credentials: {
        clientId: { type: 'text' },
        clientSecret: { type: 'password' },
        webhookSecret: { type: 'password' },
      },
    },
  )
}

function registerRegenerate(RED: Runtime): void {
  RED.nodes.registerType<RegenerateConfig>('voxmux', function (this: FlowNode, config) {
    RED.nodes.createNode(this, config)
    const closing = new AbortController()
    let running = 0
    const show = (text?: string) => {
      if (running > 0) this.status({ fill: 'blue', shape: 'dot', text: text ?? `${running} running` })
      else this.status(text ? { fill: 'red', shape: 'ring', text } : {})
    }
    this.on('close', (done) => {
      closing.abort()
      done()
    })
    this.on('input', (message, send, done) => {
      const service = RED.nodes.getNode(config.service) as ServiceNode | null
      if (!service?.client) {
        done(service?.fault ?? new Error('No service is configured. Open the node, and choose or add a service.'))
        return
      }
      const webhook = webhookBodySchema.safeParse(message.payload)
      if (webhook.success) {
        service.client.notify(webhook.data.message.fileId)
        done()
        return
      }
      running++
      show()
      const onPercent = (percent: number) => running === 1 && show(`${percent} %`)
      regenerateMessage(message, { service, config, signal: closing.signal, onPercent }).then(
        (output: Message) => {
          running--
          show()
          send(output)
          done()
        },
        (thrown: Error) => {
          running--
          show(closing.signal.aborted ? undefined : 'failed')
          done(thrown)
        },
      )
    })
  })
}

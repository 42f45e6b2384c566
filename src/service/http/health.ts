import type { FastifyInstance } from 'fastify'

/**
 * Registers the pages of an operator, which need no token: the process at `/healthz`, the store at `/readyz`, and figures
 * for Prometheus at `/metrics`.
 *
 * @param askStore rejects with a transient error if the store does not respond
 */
export function serveHealth(app: FastifyInstance, askStore: () => Promise<unknown>): void {
  const answers = new Map<string, number>()
  app.addHook('onResponse', async ({ routeOptions, method }, { statusCode }) => {
    // The route and not the path, which may contain an id: each id would become a series of its own.
    const labels = `method="${method}",route="${routeOptions.url ?? ''}",status="${statusCode}"`
    answers.set(labels, (answers.get(labels) ?? 0) + 1)
  })
  app.get('/healthz', async () => ({ status: 'ok' }))
  app.get('/readyz', async () => {
    await askStore()
    return { status: 'ready' }
  })
  app.get('/metrics', async (_request, reply) =>
    reply.type('text/plain; version=0.0.4; charset=utf-8').send(metricsText(answers)),
  )
}

function metricsText(answers: ReadonlyMap<string, number>): string {
  return [
    '# HELP voxmux_service_responses_total Responses of this node.',
    '# TYPE voxmux_service_responses_total counter',
    ...[...answers].map(([labels, count]) => `voxmux_service_responses_total{${labels}} ${count}`),
    '# HELP process_resident_memory_bytes Memory of this process.',
    '# TYPE process_resident_memory_bytes gauge',
    `process_resident_memory_bytes ${process.memoryUsage.rss()}`,
    '# HELP process_uptime_seconds Time since the start.',
    '# TYPE process_uptime_seconds gauge',
    `process_uptime_seconds ${process.uptime()}`,
    '',
  ].join('\n')
}

/** The watch folder: files that people drop are regenerated, each once, and found again in another folder. */
export type { DaemonEvent, DaemonView, FolderState, FolderView } from './daemon-view.js'
export type { OperatorView } from './dashboard/operator-view.js'
export { type Dashboard, type DashboardOptions, startDashboard } from './dashboard/start-dashboard.js'
export type { DaemonGaugesOptions } from './metrics/daemon-gauges.js'
export { Metrics } from './metrics/metrics.js'
export { isTemporaryName } from './temporary-names.js'

export { defineExtension, type Extension, type ExtensionHost, type ExtensionParts } from './extension.js'

export { loadExtension } from './load-extension.js'
export { startExtensions } from './start-extensions.js'

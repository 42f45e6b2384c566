export { processFile } from './process-file.js'

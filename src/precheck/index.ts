export * from './choices.js'
export * from './describe.js'
export * from './limits.js'

export * from './run-rules.js'
export * from './subject.js'
export * from './verdict.js'

import { describe } from 'vitest'
import { interfaceSuite } from './interface-suite.js'
import { openTarget } from './target.js'

/**
 * Every testable sentence of the interface, against our own service or, with VOXMUX_BASE_URL, VOXMUX_AUTH_URL,
 * VOXMUX_TENANT_ID, VOXMUX_CLIENT_ID, VOXMUX_CLIENT_SECRET and VOXMUX_SCOPE set, against any other.
 */
describe('the interface', () => interfaceSuite(() => openTarget()))

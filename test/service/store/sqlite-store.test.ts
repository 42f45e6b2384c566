import { describe } from 'vitest'
import { openSqliteStore } from '../../../src/service/store/sqlite/open-sqlite-store.js'
import { freshFolder } from '../../conformance/folder.js'
import { filesContract } from './files-contract.js'
import { outboxContract } from './outbox-contract.js'
import { recordsContract } from './records-contract.js'
import type { OpenTwoNodes } from './store-fixture.js'

describe('the service’s store in SQLite', () => {
  const open: OpenTwoNodes = async (now) => {
    const folder = await freshFolder()
    const [one, other] = [openSqliteStore(folder.path, now), openSqliteStore(folder.path, now)]
    return {
      one,
      other,
      async close() {
        one.close()
        other.close()
        await folder.remove()
      },
    }
  }
  describe('records', () => recordsContract(open))
  describe('files', () => filesContract(open))
  describe('outbox', () => outboxContract(open))
})

const MOST = Number.MAX_SAFE_INTEGER
const inMs = (sec: string) =>
  `CASE WHEN ${sec} * 1000 >= ${MOST} THEN ${MOST} ELSE CAST(round(${sec} * 1000) AS INTEGER) END`

/** The service's tables. Append only: a store counts how many migrations it has run. Times are Unix milliseconds. */
export const SERVICE_MIGRATIONS: readonly string[] = [
  `
CREATE TABLE setting (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;

CREATE TABLE signing_key (
  kid TEXT PRIMARY KEY,
  private_jwk TEXT NOT NULL,
  created_ms INTEGER NOT NULL
) STRICT;

CREATE TABLE account (id TEXT PRIMARY KEY, name TEXT NOT NULL UNIQUE, created_ms INTEGER NOT NULL) STRICT;

CREATE TABLE user (
  id TEXT PRIMARY KEY,
  account_id TEXT NOT NULL REFERENCES account (id),
  name TEXT NOT NULL,
  subject TEXT UNIQUE,
  credits_sec REAL,
  webhook_url TEXT,
  webhook_method TEXT,
  webhook_secret_position TEXT,
  webhook_secret TEXT,
  created_ms INTEGER NOT NULL
) STRICT;

CREATE TABLE api_key (
  client_id TEXT PRIMARY KEY,
  user_id TEXT NOT NULL REFERENCES user (id),
  name TEXT NOT NULL,
  secret_hash TEXT NOT NULL,
  created_ms INTEGER NOT NULL,
  expires_ms INTEGER NOT NULL,
  revoked_ms INTEGER
) STRICT;

CREATE TABLE file (
  id TEXT PRIMARY KEY,
  user_id TEXT NOT NULL,
  client_file_id TEXT NOT NULL,
  file_name TEXT NOT NULL,
  source_url TEXT,
  start_sec REAL,
  end_sec REAL,
  webhook INTEGER NOT NULL DEFAULT 0,
  webhook_secret TEXT,
  output_type TEXT,
  state TEXT NOT NULL,
  error_code INTEGER NOT NULL DEFAULT 0,
  progress REAL NOT NULL DEFAULT 0,
  charged_sec REAL NOT NULL DEFAULT 0,
  output_extension TEXT,
  input_deleted_ms INTEGER,
  output_deleted_ms INTEGER,
  created_ms INTEGER NOT NULL,
  updated_ms INTEGER NOT NULL,
  ended_ms INTEGER
) STRICT;
CREATE INDEX file_state ON file (state, created_ms);
CREATE INDEX file_ended ON file (ended_ms);

CREATE TABLE webhook_event (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  file_id TEXT NOT NULL,
  user_id TEXT NOT NULL,
  body TEXT NOT NULL,
  secret TEXT,
  state TEXT NOT NULL DEFAULT 'waiting',
  attempts INTEGER NOT NULL DEFAULT 0,
  due_ms INTEGER NOT NULL,
  lease_owner TEXT,
  lease_until_ms INTEGER,
  created_ms INTEGER NOT NULL
) STRICT;
CREATE INDEX webhook_event_due ON webhook_event (state, due_ms);
CREATE INDEX webhook_event_file ON webhook_event (file_id, id);

CREATE TABLE webhook_log (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  event_id INTEGER NOT NULL,
  file_id TEXT NOT NULL,
  at_ms INTEGER NOT NULL,
  attempt INTEGER NOT NULL,
  method TEXT NOT NULL,
  url TEXT NOT NULL,
  type TEXT NOT NULL,
  status TEXT NOT NULL,
  outcome TEXT NOT NULL,
  detail TEXT NOT NULL
) STRICT;
`,
  // Lists do not show a process's own keys.
  'ALTER TABLE api_key ADD COLUMN lasting INTEGER NOT NULL DEFAULT 1',
  // Reported faults, nodes that crashed in between, and the claim of the current worker.
  `
ALTER TABLE file ADD COLUMN faults INTEGER NOT NULL DEFAULT 0;
ALTER TABLE file ADD COLUMN crashes INTEGER NOT NULL DEFAULT 0;
ALTER TABLE file ADD COLUMN working_claim INTEGER;
`,
  // The claim for which a fault was counted, and whether an accepted file was seen in the job queue.
  `
ALTER TABLE file ADD COLUMN fault_claim INTEGER;
ALTER TABLE file ADD COLUMN queued INTEGER NOT NULL DEFAULT 0;
`,
  // Credits in whole milliseconds: as binary fractions, three times 2.1 s is more than 6.3 s.
  `
ALTER TABLE user ADD COLUMN credits_ms INTEGER;
UPDATE user SET credits_ms = ${inMs('credits_sec')};
ALTER TABLE user DROP COLUMN credits_sec;
ALTER TABLE file ADD COLUMN charged_ms INTEGER NOT NULL DEFAULT 0;
UPDATE file SET charged_ms = ${inMs('charged_sec')};
ALTER TABLE file DROP COLUMN charged_sec;
`,
  // The event of a delivery, to send it again.
  `
ALTER TABLE webhook_log ADD COLUMN user_id TEXT;
ALTER TABLE webhook_log ADD COLUMN body TEXT;
`,
  // The part of a charge that was taken from credits: without a limit there were none.
  `
ALTER TABLE file ADD COLUMN refundable_ms INTEGER NOT NULL DEFAULT 0;
UPDATE file SET refundable_ms = charged_ms;
`,
  // A registration counts the files of its user that were not started.
  'CREATE INDEX file_user_state ON file (user_id, state)',
]

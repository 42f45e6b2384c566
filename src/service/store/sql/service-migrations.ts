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
  -- In whole milliseconds: as binary fractions, three times 2.1 s is more than 6.3 s.
  credits_ms INTEGER,
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
  revoked_ms INTEGER,
  -- Lists do not show a process's own keys.
  lasting INTEGER NOT NULL DEFAULT 1
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
  charged_ms INTEGER NOT NULL DEFAULT 0,
  -- The part of a charge that was taken from credits: without a limit there were none.
  refundable_ms INTEGER NOT NULL DEFAULT 0,
  -- Reported faults, nodes that crashed in between, and the claim of the current worker.
  faults INTEGER NOT NULL DEFAULT 0,
  crashes INTEGER NOT NULL DEFAULT 0,
  working_claim INTEGER,
  -- The claim for which a fault was counted, and whether an accepted file was seen in the job queue.
  fault_claim INTEGER,
  queued INTEGER NOT NULL DEFAULT 0,
  output_extension TEXT,
  input_deleted_ms INTEGER,
  output_deleted_ms INTEGER,
  created_ms INTEGER NOT NULL,
  updated_ms INTEGER NOT NULL,
  ended_ms INTEGER
) STRICT;
CREATE INDEX file_state ON file (state, created_ms);
CREATE INDEX file_ended ON file (ended_ms);
-- A registration counts the files of its user that were not started.
CREATE INDEX file_user_state ON file (user_id, state);

CREATE TABLE webhook_event (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  file_id TEXT NOT NULL,
  user_id TEXT NOT NULL,
  body TEXT NOT NULL,
  secret TEXT,
  attempts INTEGER NOT NULL DEFAULT 0,
  due_ms INTEGER NOT NULL,
  lease_owner TEXT,
  lease_until_ms INTEGER,
  created_ms INTEGER NOT NULL
) STRICT;
CREATE INDEX webhook_event_due ON webhook_event (due_ms);
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
  detail TEXT NOT NULL,
  -- The event, to send it again.
  user_id TEXT,
  body TEXT
) STRICT;
`,
]

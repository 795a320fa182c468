-- Runs are deleted some time after their end.
create index execution_ended on execution (ended_at) where ended_at is not null and parent is null;

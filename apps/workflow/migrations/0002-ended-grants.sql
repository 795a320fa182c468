-- The cloud has confirmed that the grant of this run has ended. Until then the end of the grant is repeated.
alter table execution add column grant_ended boolean not null default false;
update execution set grant_ended = true where ended_at is not null;
create index execution_granted on execution (ended_at) where ended_at is not null and not grant_ended;

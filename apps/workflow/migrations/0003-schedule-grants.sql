-- The cloud has confirmed that the grant of this deleted schedule has ended. Until then the end of the grant is repeated, for those
-- that were deleted before as well.
alter table schedule add column grant_ended boolean not null default false;
create index schedule_granted on schedule (deleted_at) where deleted_at is not null and not grant_ended;

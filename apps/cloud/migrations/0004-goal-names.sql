-- Pending undos hold goals as they are sent to hosts: the names of the host API that cells used before are replaced.
update pending_undo set goal = (goal - 'be' - 'deed')
  || jsonb_build_object('goal', case goal ->> 'be' when 'discarded' then 'noSavedState' when 'unsnapshotted' then 'noSnapshots' else goal ->> 'be' end)
  || case when goal -> 'deed' is null then '{}' else jsonb_build_object('spec', goal -> 'deed') end
where goal ->> 'be' is not null;

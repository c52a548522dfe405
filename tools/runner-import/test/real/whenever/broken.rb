every 1.day do
  rake 'open
end
every do
  rake 'nothing'
end
rake 'outside'
every :someday do
  rake 'someday'
end
every 1.fortnight do
  rake 'fortnight'
end
every interval do
  rake 'computed'
end
every 10.minutes do
  rake 'last'
end

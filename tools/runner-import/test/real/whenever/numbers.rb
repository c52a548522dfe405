every 1.hour, at: 15 do
  rake 'quarter-past'
end
every :day, at: 5 do
  rake 'five'
end
every 1.hour, at: 5..10 do
  rake 'range'
end
every 90.seconds do
  rake 'seconds'
end
every 0.5.day do
  rake 'half'
end
every 2.weeks do
  rake 'weeks'
end

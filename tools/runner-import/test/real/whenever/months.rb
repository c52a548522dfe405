every 1.month, at: 'January 18th at 1:59am' do
  rake 'a'
end
every 2.months do
  rake 'b'
end
every 1.year do
  rake 'c'
end
every :month, at: 'end of the month at 3:00 am' do
  rake 'd'
end
every :year, at: 'March 31st 11:59pm' do
  rake 'e'
end
